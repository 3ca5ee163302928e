import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { startFakeOpenAi } from '../support/fake-openai.ts';
import { call, gate, message } from '../support/fake-openai-steps.ts';
import { packagedPixir } from '../support/package.ts';
import { environmentFor, runPixir, startPixir, startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { type Update, WireClient } from '../support/wire-client.ts';
import { connectWebSocket } from '../support/ws-wire.ts';

const bin = await packagedPixir();
const allow = { outcome: { outcome: 'selected', optionId: 'allow' } };
const isPermission = ({ method }: { method?: string }) => method === 'session/request_permission';
const isWithdrawal = ({ method }: { method?: string }) => method === '$/cancel_request';

/** A model, a data directory with a server, and as many editors as wanted, all of them processes. */
async function stage() {
  const stack = new AsyncDisposableStack();
  const dir = stack.use(await tempDir());
  const fake = stack.use(await startFakeOpenAi());
  const model = { PIXIR_PROVIDER: 'openai', OPENAI_BASE_URL: fake.baseUrl, OPENAI_API_KEY: 'sk-test' };
  const serve = async () =>
    stack.use(await startServer(dir.path, { ...model, PIXIR_PERMISSION_MODE: 'ask' }, ['--workspace', dir.path], bin));
  const editor = async () => {
    const { child } = stack.use(startPixir(['acp'], environmentFor(dir.path), dir.path, bin));
    const client = new WireClient().open({
      send: (text) => child.stdin?.write(`${text}\n`),
      close: () => child.stdin?.end(),
    });
    createInterface({ input: child.stdout as Readable }).on('line', client.receive);
    await client.initialize();
    return client;
  };
  return { dir: dir.path, fake, serve, editor, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** What the agent did, as a person sees it; ids and the size of the pieces are not part of it. */
function transcript(client: WireClient): string[] {
  const items = new Map<unknown, string>();
  for (const { sessionUpdate, messageId, toolCallId, status, content } of client.updates()) {
    if (sessionUpdate === 'user_message_chunk') continue;
    const text = (content as { text?: string } | undefined)?.text ?? '';
    const before = items.get(messageId ?? toolCallId) ?? '';
    items.set(messageId ?? toolCallId, messageId ? before + text : `${before} ${status}`);
  }
  return [...items.values()];
}

const said = (text: string) => (update: Update) => (update.content as { text?: string } | undefined)?.text === text;

export function bridging(): void {
  test('[BRIDGE1] two editors and a browser on one Session: the same transcript, and one approval', async () => {
    await using s = await stage();
    const server = await s.serve();
    const [first, second] = [await s.editor(), await s.editor()];
    const { client: browser, socket } = await connectWebSocket(server);
    await browser.initialize({ _meta: { pixir: { cursor: 1 } } });
    const sessionId = await first.newSession(s.dir);
    await second.request('session/load', { sessionId, cwd: s.dir, mcpServers: [] });
    await browser.request('_pixir/session/attach', { sessionId });
    const all = [first, second, browser];

    s.fake.answer(message('I ', 'write.'), call('c1', 'write', { path: 'out', content: 'x' }));
    s.fake.answer(message('It ', 'is ', 'written.'));
    const prompt = first.prompt(sessionId, 'write it');
    const questions = await Promise.all(all.map((client) => client.frame(isPermission)));
    second.raw({ jsonrpc: '2.0', id: questions[1]?.id, result: allow });
    assert.deepEqual(await prompt, { stopReason: 'end_turn' });
    for (const index of [0, 2]) {
      const withdrawal = await all[index]?.frame(isWithdrawal);
      assert.deepEqual(withdrawal?.params, { requestId: questions[index]?.id });
    }
    assert.ok(existsSync(join(s.dir, 'out')) && !second.frames.some(isWithdrawal));

    s.fake.answer(message('You ', 'are ', 'welcome.'));
    await second.prompt(sessionId, 'thank you');
    await Promise.all(all.map((client) => client.update(said('welcome.'))));
    const shown = ['I write.', ' in_progress completed', 'It is written.', 'You are welcome.'];
    for (const client of all) assert.deepEqual(transcript(client), shown);
    const heard = all.map((client) => client.text(sessionId, 'user_message_chunk'));
    assert.deepEqual(heard, ['thank you', 'write it', 'write itthank you'], 'everybody hears the others');
    for (const client of all) client.assertSound();
    socket.close();
  });

  test('[BRIDGE2] the server is killed in mid-sentence and in mid-question, and started elsewhere: the editor notices a pause', async () => {
    await using s = await stage();
    let server = await s.serve();
    const editor = await s.editor();
    const sessionId = await editor.newSession(s.dir);
    const restart = async () => {
      server.child.kill('SIGKILL');
      await server.exit();
      const { url } = server;
      server = await s.serve();
      assert.notEqual(server.url, url);
    };

    s.fake.answer(message('Half ', gate().passed));
    s.fake.answer(message('Now ', 'all ', 'of it.'));
    const prompt = editor.prompt(sessionId, 'go');
    await editor.update(said('Half '));
    await restart();
    assert.deepEqual(await prompt, { stopReason: 'end_turn' });
    assert.deepEqual(transcript(editor), ['Half ', 'Now all of it.']);

    s.fake.answer(call('c1', 'write', { path: 'out', content: 'x' }));
    s.fake.answer(message('It ', 'is ', 'written.'));
    const asking = editor.prompt(sessionId, 'write it');
    const { id } = await editor.frame(isPermission);
    await restart();
    assert.ok(!existsSync(join(s.dir, 'out')));
    editor.raw({ jsonrpc: '2.0', id, result: allow });
    assert.deepEqual(await asking, { stopReason: 'end_turn' });
    assert.ok(existsSync(join(s.dir, 'out')));
    assert.deepEqual(transcript(editor).slice(2), [' in_progress completed', 'It is written.']);
    assert.deepEqual([editor.frames.filter(isPermission).length, editor.frames.some(isWithdrawal)], [1, false]);

    const { stdout } = await runPixir(['sessions', 'export', sessionId], environmentFor(s.dir), '', s.dir, bin);
    const types = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    assert.equal(types.filter((type) => type === 'turn_finished').length, 2);
    assert.equal(types.filter((type) => type === 'user_message').length, 2);
    assert.equal(editor.text(sessionId, 'user_message_chunk'), '', 'nobody is told their own prompt');
    editor.assertSound();
  });
}
