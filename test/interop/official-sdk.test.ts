import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import * as acp from '@agentclientprotocol/sdk';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { call, gate, message, thought } from '../support/fake-openai-steps.ts';
import { allow, checked, editor, type Open, TRANSPORTS, textOf } from '../support/official-client.ts';
import { tempDir } from '../support/temp-dir.ts';

async function conversation(open: Open, fake: FakeOpenAi, dir: string): Promise<void> {
  const env = {
    PIXIR_PROVIDER: 'openai',
    OPENAI_BASE_URL: fake.baseUrl,
    OPENAI_API_KEY: 'sk-test',
    PIXIR_PERMISSION_MODE: 'ask',
  };
  const cwd = join(dir, 'project');
  await mkdir(cwd);
  const sessionId = await firstSitting(open, fake, dir, cwd, env);

  await using stack = new AsyncDisposableStack();
  const updates: acp.SessionUpdate[] = [];
  await editor(updates, async () => allow).connectWith(checked(await open(stack, dir, env)), async (ctx) => {
    await ctx.request(acp.methods.agent.initialize, { protocolVersion: 1 });
    await ctx.request(acp.methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
    const kinds = updates.map(({ sessionUpdate }) => sessionUpdate);
    assert.deepEqual(kinds.slice(0, 4), ['user_message_chunk', 'agent_message_chunk', 'tool_call', 'tool_call_update']);
    assert.match(textOf(updates), /Let me write it\. *Written\.Half a/);
    fake.answer(message('I remember.'));
    await ctx.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'And?' }] });
    assert.match(textOf(updates), /I remember\.$/);
  });
}

async function firstSitting(
  open: Open,
  fake: FakeOpenAi,
  dir: string,
  cwd: string,
  env: Record<string, string>,
): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const updates: acp.SessionUpdate[] = [];
  const asked: acp.RequestPermissionRequest[] = [];
  const answer = async (request: acp.RequestPermissionRequest) => {
    asked.push(request);
    return allow;
  };
  return await editor(updates, answer).connectWith(checked(await open(stack, dir, env)), async (ctx) => {
    const { agentInfo, protocolVersion } = await ctx.request(acp.methods.agent.initialize, { protocolVersion: 1 });
    assert.deepEqual([agentInfo?.name, protocolVersion], ['pixir', 1]);
    const { sessionId } = await ctx.request(acp.methods.agent.session.new, { cwd, mcpServers: [] });
    const prompt = (text: string) =>
      ctx.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });

    fake.answer(
      thought('Hm.'),
      message('Let me ', 'write it. '),
      call('c1', 'write', { path: 'a.txt', content: 'hello' }),
    );
    fake.answer(message('Written.'));
    assert.equal((await prompt('Write a.txt')).stopReason, 'end_turn');
    assert.equal(await readFile(join(cwd, 'a.txt'), 'utf8'), 'hello');
    assert.deepEqual(
      asked.map(({ toolCall }) => [toolCall.toolCallId, toolCall.title]),
      [['c1', 'write a.txt']],
    );

    const hold = gate();
    fake.answer(message('Half a ', hold.passed));
    const seen = updates.length;
    const cancelled = prompt('Go on');
    while (!updates.slice(seen).some(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk'))
      await new Promise(setImmediate);
    await ctx.notify(acp.methods.agent.session.cancel, { sessionId });
    assert.equal((await cancelled).stopReason, 'cancelled');
    hold.open();
    return sessionId;
  });
}

for (const [transport, open] of TRANSPORTS) {
  test(`[SDK1] the official client: initialize, new, prompt, tool, approval, cancel, load (${transport})`, async () => {
    await using dir = await tempDir();
    await using fake = await startFakeOpenAi();
    await conversation(open, fake, dir.path);
    assert.ok(existsSync(join(dir.path, 'pixir.db')));
  });
}
