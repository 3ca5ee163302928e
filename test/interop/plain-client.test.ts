import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import * as acp from '@agentclientprotocol/sdk';
import type { WebSocket } from 'ws';
import { openReadOnly } from '../../src/store/sqlite-reader.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { call, gate, message } from '../support/fake-openai-steps.ts';
import { allow, checked, editor, textOf, webSocketStream } from '../support/official-client.ts';
import { packagedPixir } from '../support/package.ts';
import { REPOSITORY, type RunningServer, startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';

const { initialize, session } = acp.methods.agent;

/** A question that the agent has put to this client. */
interface Asked {
  params: acp.RequestPermissionRequest;
  allow(): void;
  /** Set when the agent has withdrawn it. */
  withdrawn: AbortSignal;
}

/** Everything that one connection of a plain editor has seen. */
interface Sitting extends Disposable {
  agent: acp.ClientContext;
  updates: acp.SessionUpdate[];
  asked: Asked[];
  socket: WebSocket;
  text(): string;
  prompt(sessionId: string, text: string): Promise<acp.PromptResponse>;
}

let dir: Awaited<ReturnType<typeof tempDir>>;
let fake: FakeOpenAi;
let server: RunningServer;

async function start(): Promise<RunningServer> {
  const env = {
    PIXIR_PROVIDER: 'openai',
    OPENAI_BASE_URL: fake.baseUrl,
    OPENAI_API_KEY: 'sk-test',
    PIXIR_PERMISSION_MODE: 'ask',
  };
  return startServer(dir.path, env, ['--workspace', dir.path], await packagedPixir());
}

async function sit(): Promise<Sitting> {
  const updates: acp.SessionUpdate[] = [];
  const asked: Asked[] = [];
  let socket: WebSocket | undefined;
  const stream = webSocketStream(server, (opened) => {
    socket = opened;
  });
  const connection = editor(updates, (params, withdrawn) => {
    const { promise, resolve } = Promise.withResolvers<acp.RequestPermissionResponse>();
    asked.push({ params, withdrawn, allow: () => resolve(allow) });
    return promise;
  }).connect(checked(stream));
  const { agent } = connection;
  await agent.request(initialize, { protocolVersion: 1 });
  assert.ok(socket);
  return {
    agent,
    updates,
    asked,
    socket,
    text: () => textOf(updates),
    prompt: (sessionId, text) => agent.request(session.prompt, { sessionId, prompt: [{ type: 'text', text }] }),
    [Symbol.dispose]: () => connection.close(),
  };
}

async function until<T>(look: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found) return found;
    await new Promise(setImmediate);
  }
}

async function newSession({ agent }: Sitting): Promise<string> {
  return (await agent.request(session.new, { cwd: dir.path, mcpServers: [] })).sessionId;
}

/** Comes back as ACP says: with the whole conversation, or with nothing but what comes. */
async function comeBack(how: 'load' | 'resume', sessionId: string): Promise<Sitting> {
  const sitting = await sit();
  await sitting.agent.request(session[how], { sessionId, cwd: dir.path, mcpServers: [] });
  return sitting;
}

/** Asks for something and is gone as soon as `enough` is seen. */
async function promptAndDrop(enough: (sitting: Sitting) => boolean): Promise<string> {
  using sitting = await sit();
  const sessionId = await newSession(sitting);
  sitting.prompt(sessionId, 'go').catch(() => undefined);
  await until(() => enough(sitting));
  return sessionId;
}

function readLog<T>(read: (log: ReturnType<typeof openReadOnly>) => Promise<T>): Promise<T> {
  const log = openReadOnly({ file: join(dir.path, 'pixir.db'), migrationsDir: join(REPOSITORY, 'migrations') });
  return read(log).finally(() => log.close());
}

/** Waits until exactly so many Turns have ended: a plain client is not told when one ends that another began. */
async function turnsEnded(sessionId: string, count: number): Promise<void> {
  const events = await until(async () => {
    const entries = await readLog((log) => log.read(sessionId, -1, 100));
    const ends = entries.filter(({ event }) => event.type === 'turn_finished');
    return ends.length >= count && ends;
  });
  assert.equal(events.length, count);
}

describe('a plain client', () => {
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

  test('[SDK2] dropped in mid-stream and back with load: the text so far, then the rest, once', async () => {
    const hold = gate();
    fake.answer(message('Half a ', hold.passed, 'sentence.'));
    const sessionId = await promptAndDrop((sitting) => sitting.text() === 'Half a ');
    using back = await comeBack('load', sessionId);
    assert.equal(back.text(), 'Half a ');
    hold.open();
    await turnsEnded(sessionId, 1);
    fake.answer(message(' And more.'));
    assert.deepEqual(await back.prompt(sessionId, 'more'), { stopReason: 'end_turn' });
    assert.equal(back.text(), 'Half a sentence. And more.');
  });

  for (const how of ['load', 'resume'] as const) {
    test(`[SDK2] dropped with a question open and back with ${how}: asked again, answers, the Turn completes`, async () => {
      fake.answer(call('c1', 'write', { path: `${how}.txt`, content: 'hello' }));
      fake.answer(message('Written.'));
      const sessionId = await promptAndDrop((sitting) => sitting.asked.length > 0);
      using back = await comeBack(how, sessionId);
      const question = await until(() => back.asked[0]);
      assert.equal(question.params.toolCall.toolCallId, 'c1');
      assert.ok(!existsSync(join(dir.path, `${how}.txt`)));
      question.allow();
      await until(() => back.text() === 'Written.');
      assert.ok(existsSync(join(dir.path, `${how}.txt`)));
      assert.equal(back.asked.length, 1);
    });
  }

  test('[SDK2] two clients: both see, both are asked, the first answer wins and the other question is withdrawn', async () => {
    using first = await sit();
    const sessionId = await newSession(first);
    using second = await comeBack('resume', sessionId);
    fake.answer(call('c1', 'write', { path: 'two.txt', content: 'hello' }));
    fake.answer(message('Written ', 'once.'));
    const answered = first.prompt(sessionId, 'go');
    const mine = await until(() => first.asked[0]);
    const theirs = await until(() => second.asked[0]);
    theirs.allow();
    await until(() => mine.withdrawn.aborted);
    mine.allow();
    assert.deepEqual(await answered, { stopReason: 'end_turn' });
    await until(() => second.text() === first.text());
    assert.equal(first.text(), 'Written once.');
    assert.equal(theirs.withdrawn.aborted, false);
    const events = await readLog((log) => log.read(sessionId, -1, 100));
    assert.equal(events.filter(({ event }) => event.type === 'permission_decision').length, 1);
  });

  test('[SDK2] a client that stops reading for a while: nobody waits for it, and it gets everything, once', async () => {
    using quick = await sit();
    const sessionId = await newSession(quick);
    using slow = await comeBack('resume', sessionId);
    slow.socket.pause();
    // The kernel takes several MiB before the server notices.
    const pieces = Array.from({ length: 96 }, (_, n) => `${n}:${'x'.repeat(64 * 1024)};`);
    fake.answer(message(...pieces));
    assert.deepEqual(await quick.prompt(sessionId, 'go'), { stopReason: 'end_turn' });
    assert.equal(quick.text(), pieces.join(''));
    assert.ok(slow.text().length < quick.text().length);
    slow.socket.resume();
    await until(() => slow.text().length >= quick.text().length);
    assert.equal(slow.text(), quick.text());
  });

  test('[SDK2] the server is killed in mid-stream: back with load, the text and the rest of the Turn, which ends once', async () => {
    const hold = gate();
    fake.answer(message('Half a ', hold.passed));
    const sessionId = await promptAndDrop((sitting) => sitting.text() === 'Half a ');
    await until(() => readLog((log) => log.draft(sessionId)));
    server.child.kill('SIGKILL');
    await server.exit();
    fake.answer(message('sentence, and ', 'the rest.'));
    server = await start();
    using back = await comeBack('load', sessionId);
    await turnsEnded(sessionId, 1);
    await until(() => back.text() === 'Half a sentence, and the rest.');
    fake.answer(message(' More.'));
    assert.deepEqual(await back.prompt(sessionId, 'more'), { stopReason: 'end_turn' });
    assert.equal(back.text(), 'Half a sentence, and the rest. More.');
    await turnsEnded(sessionId, 2);
  });
});
