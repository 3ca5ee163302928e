/** The official SDK's client over Streamable HTTP, with none of our extensions, against real processes. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import * as acp from '@agentclientprotocol/sdk';
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { call, gate, message } from '../support/fake-openai-steps.ts';
import { allow, checked, editor, textOf } from '../support/official-client.ts';
import { type RunningServer, startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';

const { initialize, session } = acp.methods.agent;

interface Sitting extends Disposable {
  agent: acp.ClientContext;
  updates: acp.SessionUpdate[];
  asked: acp.RequestPermissionRequest[];
  /** Resolves when the connection has ended. */
  closed: Promise<void>;
  prompt(sessionId: string, text: string): Promise<acp.PromptResponse>;
}

let dir: Awaited<ReturnType<typeof tempDir>>;
let fake: FakeOpenAi;
let server: RunningServer;

function start(): Promise<RunningServer> {
  const env = {
    PIXIR_PROVIDER: 'openai',
    OPENAI_BASE_URL: fake.baseUrl,
    OPENAI_API_KEY: 'sk-test',
    PIXIR_PERMISSION_MODE: 'ask',
  };
  return startServer(dir.path, env, ['--workspace', dir.path]);
}

async function sit(): Promise<Sitting> {
  const updates: acp.SessionUpdate[] = [];
  const asked: acp.RequestPermissionRequest[] = [];
  const stream = createHttpStream(`${server.url}/acp`, { headers: { authorization: `Bearer ${server.token}` } });
  const connection = editor(updates, async (params) => {
    asked.push(params);
    return allow;
  }).connect(checked(stream));
  const { agent } = connection;
  await agent.request(initialize, { protocolVersion: 1 });
  return {
    agent,
    updates,
    asked,
    closed: connection.closed,
    prompt: (sessionId, text) => agent.request(session.prompt, { sessionId, prompt: [{ type: 'text', text }] }),
    [Symbol.dispose]: () => connection.close(),
  };
}

const newSession = async ({ agent }: Sitting) =>
  (await agent.request(session.new, { cwd: dir.path, mcpServers: [] })).sessionId;
const comeBack = ({ agent }: Sitting, how: 'load' | 'resume', sessionId: string) =>
  agent.request(session[how], { sessionId, cwd: dir.path, mcpServers: [] });

async function until(look: () => unknown): Promise<void> {
  while (!look()) await new Promise(setImmediate);
}

describe('the official client over HTTP', () => {
  before(async () => {
    dir = await tempDir();
    fake = await startFakeOpenAi();
    server = await start();
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await fake[Symbol.asyncDispose]();
    await dir[Symbol.asyncDispose]();
  });

  test('[SDK3] new, prompt, tool, approval, cancel, load, resume', async () => {
    using sitting = await sit();
    const sessionId = await newSession(sitting);
    fake.answer(message('Let me write it. '), call('c1', 'write', { path: 'a.txt', content: 'hello' }));
    fake.answer(message('Written.'));
    assert.deepEqual(await sitting.prompt(sessionId, 'Write a.txt'), { stopReason: 'end_turn' });
    assert.equal(await readFile(join(dir.path, 'a.txt'), 'utf8'), 'hello');
    assert.deepEqual(
      sitting.asked.map(({ toolCall }) => toolCall.title),
      ['write a.txt'],
    );
    assert.equal(textOf(sitting.updates), 'Let me write it. Written.');

    const hold = gate();
    fake.answer(message('Half a ', hold.passed));
    const cancelled = sitting.prompt(sessionId, 'Go on');
    await until(() => textOf(sitting.updates).endsWith('Half a '));
    await sitting.agent.notify(session.cancel, { sessionId });
    assert.deepEqual(await cancelled, { stopReason: 'cancelled' });
    hold.open();

    using loader = await sit();
    await comeBack(loader, 'load', sessionId);
    // Everything is there when the answer is: it comes behind the updates, on the same stream.
    assert.equal(textOf(loader.updates), 'Let me write it. Written.Half a ');
    using resumer = await sit();
    await comeBack(resumer, 'resume', sessionId);
    assert.equal(textOf(resumer.updates), '');
    fake.answer(message('Seen by all.'));
    assert.deepEqual(await resumer.prompt(sessionId, 'And?'), { stopReason: 'end_turn' });
    assert.equal(textOf(resumer.updates), 'Seen by all.');
    await until(() => textOf(sitting.updates) === textOf(loader.updates));
    await assert.rejects(comeBack(loader, 'load', 'unknown'), ({ code }: acp.RequestError) => code === -32002);
  });

  test('[SDK3] two Sessions side by side', async () => {
    using sitting = await sit();
    const [one, two] = [await newSession(sitting), await newSession(sitting)];
    const hold = gate();
    fake.answer(message('Slow ', hold.passed, 'and steady.'));
    const slow = sitting.prompt(one, 'slow');
    await until(() => textOf(sitting.updates) === 'Slow ');
    fake.answer(message('Quick. '));
    assert.deepEqual(await sitting.prompt(two, 'quick'), { stopReason: 'end_turn' });
    hold.open();
    assert.deepEqual(await slow, { stopReason: 'end_turn' });
    assert.equal(textOf(sitting.updates), 'Slow Quick. and steady.');
  });

  test('[SDK3] the server is restarted: the client is told, and a new stream loads the Session and goes on', async () => {
    using sitting = await sit();
    const sessionId = await newSession(sitting);
    fake.answer(message('Before. '));
    await sitting.prompt(sessionId, 'go');
    server.child.kill('SIGTERM');
    assert.deepEqual(await server.exit(), { code: 0, signal: null });
    await sitting.closed;
    server = await start();
    using back = await sit();
    await comeBack(back, 'load', sessionId);
    assert.equal(textOf(back.updates), 'Before. ');
    fake.answer(message('After.'));
    assert.deepEqual(await back.prompt(sessionId, 'more'), { stopReason: 'end_turn' });
    assert.equal(textOf(back.updates), 'Before. After.');
  });
});
