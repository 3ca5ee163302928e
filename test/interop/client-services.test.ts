/** The official client as an editor that offers all it has: unsaved files, terminals, forms. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import * as acp from '@agentclientprotocol/sdk';
import { startFakeOpenAi } from '../support/fake-openai.ts';
import { call, message } from '../support/fake-openai-steps.ts';
import { allow, checked, editor, TRANSPORTS } from '../support/official-client.ts';
import { tempDir } from '../support/temp-dir.ts';

const { fs, terminal, elicitation } = acp.methods.client;
const OFFER = { fs: { readTextFile: true, writeTextFile: true }, terminal: true, elicitation: { form: {} } };

/** An editor with one unsaved buffer, which writes down in which order it was asked. */
function offering(updates: acp.SessionUpdate[], asked: string[], buffer: { text: string }) {
  const noted = <T>(what: string, answer: T): T => {
    asked.push(what);
    return answer;
  };
  return editor(updates, async () => allow)
    .onRequest(fs.readTextFile, () => noted('read', { content: buffer.text }))
    .onRequest(fs.writeTextFile, ({ params }) => {
      buffer.text = params.content;
      return noted('write', {});
    })
    .onRequest(terminal.create, ({ params }) => noted(`create ${params.args?.[1]}`, { terminalId: 'term' }))
    .onRequest(terminal.waitForExit, () => noted('wait', { exitCode: 0 }))
    .onRequest(terminal.output, () => noted('output', { output: 'all green\n', truncated: false }))
    .onRequest(terminal.release, () => noted('release', {}))
    .onRequest(elicitation.create, ({ params }) =>
      noted(`form ${params.message}`, { action: 'accept' as const, content: { answer: 'blue' } }),
    );
}

for (const [transport, open] of TRANSPORTS) {
  test(`[CLS9] the official client’s files, terminals and forms are used (${transport})`, async () => {
    await using dir = await tempDir();
    await using fake = await startFakeOpenAi();
    await using stack = new AsyncDisposableStack();
    const env = { PIXIR_PROVIDER: 'openai', OPENAI_BASE_URL: fake.baseUrl, OPENAI_API_KEY: 'sk-test' };
    const cwd = join(dir.path, 'project');
    await mkdir(cwd);
    await writeFile(join(cwd, 'a.txt'), 'saved');
    const updates: acp.SessionUpdate[] = [];
    const asked: string[] = [];
    const buffer = { text: 'unsaved' };
    const stream = checked(await open(stack, dir.path, env));
    await offering(updates, asked, buffer).connectWith(stream, async (ctx) => {
      await ctx.request(acp.methods.agent.initialize, { protocolVersion: 1, clientCapabilities: OFFER });
      const { sessionId } = await ctx.request(acp.methods.agent.session.new, { cwd, mcpServers: [] });
      fake.answer(call('c1', 'edit', { path: 'a.txt', old_string: 'unsaved', new_string: 'edited' }));
      fake.answer(call('c2', 'bash', { command: 'make test' }));
      fake.answer(call('c3', 'ask_user', { question: 'Which colour?' }));
      fake.answer(message('Done.'));
      const prompt = [{ type: 'text' as const, text: 'Go' }];
      await ctx.request(acp.methods.agent.session.prompt, { sessionId, prompt });
    });
    const terminals = ['create make test', 'wait', 'output', 'release'];
    assert.deepEqual(asked, ['read', 'write', ...terminals, 'form Which colour?']);
    assert.deepEqual([buffer.text, await readFile(join(cwd, 'a.txt'), 'utf8')], ['edited', 'saved']);
    const shown = updates.flatMap((update) => (update.sessionUpdate === 'tool_call_update' ? [update.content] : []));
    const kinds = shown.map((content) => content?.map(({ type }) => type));
    assert.deepEqual(kinds, [['content', 'diff'], ['terminal'], ['content'], ['content']]);
    assert.ok(JSON.stringify(shown).includes('all green') && JSON.stringify(shown).includes('blue'));
  });
}
