import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { OpenPeer, Transport } from '../../src/acp/transport.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { selected } from '../contracts/agent/stage.ts';
import type { WireClient } from '../support/wire-client.ts';
import { type World, type WorldOptions, world } from '../support/world.ts';
import { comesBack, cutWhen, editorOf } from './bridge-support.ts';

const hanging: WorldOptions = {
  script: [[{ type: 'delta', kind: 'message', text: 'Half a sen' }, { type: 'hang' }]],
};
const asking: WorldOptions = {
  settings: { permissionCeiling: 'ask' },
  script: [
    [call('c1', 'poke', { text: 'x' }), finish()],
    [...say('Done.'), finish()],
  ],
};
const isPermission = ({ method }: { method?: string }) => method === 'session/request_permission';
const isWithdrawal = ({ method }: { method?: string }) => method === '$/cancel_request';

async function asked(w: World) {
  const editor = editorOf(w, { slowly: true });
  const { client } = editor;
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  const prompt = client.prompt(sessionId, 'go');
  const { id } = await client.frame(isPermission);
  return { ...editor, sessionId, prompt, answer: () => client.raw({ jsonrpc: '2.0', id, result: selected('allow') }) };
}

test('[BRIDGE5] a permission that is asked again is asked of the editor once', async () => {
  await using w = await world(asking);
  const { net, client, prompt, answer, connection } = await asked(w);
  net.cut();
  await comesBack(w, { net });
  await client.request('logout', {});
  answer();
  assert.deepEqual(await prompt, { stopReason: 'end_turn' });
  assert.equal(client.frames.filter(isPermission).length, 1);
  assert.ok(existsSync(join(w.dir, 'poked')) && !client.frames.some(isWithdrawal));
  connection.client.assertSound();
});

test('[BRIDGE5] what the editor answers while the server is away is what counts', async () => {
  await using w = await world(asking);
  const { net, client, prompt, answer, log } = await asked(w);
  net.cut();
  answer();
  await Promise.resolve();
  assert.deepEqual(log, ['the server is away: waiting for it to come back']);
  await comesBack(w, { net });
  assert.deepEqual(await prompt, { stopReason: 'end_turn' });
  assert.deepEqual([existsSync(join(w.dir, 'poked')), client.frames.filter(isPermission).length], [true, 1]);
  assert.deepEqual(log.slice(1), ['the server is back']);
  client.assertSound();
});

test('[BRIDGE5] a permission that somebody else decided meanwhile is withdrawn', async () => {
  await using w = await world(asking);
  const { net, client, prompt, answer, sessionId } = await asked(w);
  net.cut();
  const other = await w.client();
  other.onPermission = () => selected('reject');
  await other.request('session/resume', { sessionId, cwd: w.dir });
  await other.update(({ status }) => status === 'failed');
  await comesBack(w, { net });
  await prompt;
  const { params } = await client.frame(isWithdrawal);
  assert.deepEqual(params, { requestId: client.frames.find(isPermission)?.id });
  answer();
  await client.request('logout', {});
  assert.ok(!existsSync(join(w.dir, 'poked')));
  client.assertSound();
});

const cancels: [string, (client: WireClient, sessionId: string) => void][] = [
  ['session/cancel', (client, sessionId) => client.notify('session/cancel', { sessionId })],
  ['$/cancel_request', (client) => client.notify('$/cancel_request', { requestId: 'p1' })],
];
for (const [method, cancel] of cancels) {
  test(`[BRIDGE6] ${method} while the server is away, or lost on the way, cancels when it is back`, async () => {
    for (const lost of [false, true]) {
      await using w = await world(hanging);
      const editor = editorOf(w, { slowly: true });
      const { net, client } = editor;
      await client.initialize();
      const sessionId = await client.newSession(w.dir);
      const prompt = client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] }, 'p1');
      await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
      if (lost) cutWhen(editor, 'out', (frame) => frame === 1);
      else net.cut();
      cancel(client, sessionId);
      await comesBack(w, editor);
      assert.deepEqual(await prompt, { stopReason: 'cancelled' });
      assert.equal(client.text(), 'Half a sen');
      client.assertSound();
    }
  });
}

/** A server that says what a test wants it to. */
function standIn(answers: (method: string, params: Record<string, unknown>) => unknown) {
  const received: { id?: unknown; method?: string; params?: unknown; result?: unknown }[] = [];
  let wire: Transport | undefined;
  const say = (frame: object) => wire?.send(JSON.stringify({ jsonrpc: '2.0', ...frame }));
  const open: OpenPeer = (transport) => {
    wire = transport;
    return {
      receive(text) {
        const frame = JSON.parse(text);
        received.push(frame);
        const result = frame.id === undefined || !frame.method ? undefined : answers(frame.method, frame.params);
        if (result !== undefined) say({ id: frame.id, result });
      },
      draining() {},
      idle: async () => {},
      closed() {},
    };
  };
  return { open, received, say };
}

const HELLO = { protocolVersion: 1, agentCapabilities: {}, authMethods: [] };

test('[BRIDGE7] what the server asks has an id of its own for the life of the editor, and is withdrawn when the server goes', async () => {
  await using w = await world();
  const server = standIn((method) => (method === 'initialize' ? HELLO : {}));
  const { net, client } = editorOf(w, { server: () => server.open });
  await client.initialize();
  const read = { method: 'fs/read_text_file', params: { sessionId: 's', path: '/x' } };
  server.say({ id: -1, ...read });
  const { id: first } = await client.frame(({ method }) => method === read.method);
  net.cut();
  assert.deepEqual((await client.frame(isWithdrawal)).params, { requestId: first });
  await client.request('logout', {});
  server.say({ id: -1, ...read });
  const { id: second } = await client.frame(({ id, method }) => method === read.method && id !== first);
  for (const [id, content] of [
    [first, 'late'],
    [second, 'x'],
  ])
    client.raw({ jsonrpc: '2.0', id, result: { content } });
  await client.request('logout', {});
  const answers = server.received.filter(({ method }) => method === undefined);
  assert.deepEqual(answers, [{ jsonrpc: '2.0', id: -1, result: { content: 'x' } }]);
  client.assertSound();
});

test('[BRIDGE8] a Session that was replaced goes on with what comes', async () => {
  await using w = await world();
  const attaches: unknown[] = [];
  const server = standIn((method, params) => {
    if (method === 'session/new') return { sessionId: 's', _meta: { pixir: { cursor: 'old' } } };
    if (method !== '_pixir/session/attach') return method === 'initialize' ? HELLO : {};
    attaches.push(params.cursor);
    const mode = params.cursor === 'head' ? 'current' : 'reset';
    return { mode, reason: 'epoch_changed', head: 'new', state: 'idle', role: 'controller' };
  });
  const { net, client, log } = editorOf(w, { server: () => server.open });
  await client.initialize();
  await client.newSession(w.dir);
  net.cut();
  await client.request('logout', {});
  net.cut();
  await client.request('logout', {});
  assert.deepEqual(attaches, ['old', 'head', 'new', 'head']);
  assert.ok(log.includes('the session was replaced: the editor is shown only what comes'));
  client.assertSound();
});

test('[BRIDGE3] until a Session is attached again nothing is asked of it, and what is said of it comes again', async () => {
  await using w = await world();
  const server = standIn((method) => {
    if (method === 'session/new') return { sessionId: 's', _meta: { pixir: { cursor: 'c1' } } };
    return method === 'initialize' || method === 'logout' ? HELLO : undefined;
  });
  const { net, client } = editorOf(w, { server: () => server.open });
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  void client.prompt(sessionId, 'go').catch(() => undefined);
  await client.request('logout', {});
  net.cut();
  await client.request('logout', {});
  const attach = server.received.at(-2)?.id;
  const update = { sessionUpdate: 'agent_message_chunk', messageId: 'm', content: { type: 'text', text: 'x' } };
  server.say({ method: 'session/update', params: { sessionId, update, _meta: { pixir: { cursor: 'c9' } } } });
  const prompts = () => server.received.filter(({ method }) => method === 'session/prompt').length;
  await client.request('logout', {});
  assert.deepEqual([prompts(), client.updates()], [1, []]);
  server.say({ id: attach, result: { mode: 'backfill', head: 'c2' } });
  server.say({ method: 'session/update', params: { sessionId, update } });
  await client.request('logout', {});
  assert.deepEqual([prompts(), client.updates()], [2, [update]]);
  client.assertSound();
});

test('[BRIDGE3] an attach of the editor that is refused after a cut leaves it where it was', async () => {
  await using w = await world();
  const server = standIn((method) => {
    if (method === 'session/new') return { sessionId: 's', _meta: { pixir: { cursor: 'c1' } } };
    return method === '_pixir/session/attach' ? undefined : HELLO;
  });
  const { net, client } = editorOf(w, { server: () => server.open });
  await client.initialize({ _meta: { pixir: { cursor: 1 } } });
  const sessionId = await client.newSession(w.dir);
  const attach = client.request('_pixir/session/attach', { sessionId, cursor: 'c0', role: 'owner' }, 'a');
  await client.request('logout', {});
  net.cut();
  await client.request('logout', {});
  server.say({ id: 'a', error: { code: -32602, message: 'no such role' } });
  await assert.rejects(attach);
  await client.request('logout', {});
  const attaches = server.received.filter(({ method }) => method === '_pixir/session/attach');
  assert.deepEqual(
    attaches.map(({ params }) => (params as { cursor?: string }).cursor),
    ['c0', 'c0', 'c1'],
  );
  client.assertSound();
});

test('[BRIDGE9] an editor that does not read costs bounded memory, and misses nothing', async () => {
  const words = Array.from({ length: 24 }, (_, index) => `${String(index).repeat(512 * 1024)} `);
  await using w = await world({ script: [[...say(words.join('')), finish()]] });
  const { net, client, connection } = editorOf(w);
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  connection.pause();
  const prompt = client.prompt(sessionId, 'go');
  const limit = 16 * 1024 * 1024;
  while (connection.waiting() <= limit) await new Promise(setImmediate);
  // All of it has been said by the time there is nothing left to do.
  while ((await w.types(sessionId)).at(-1) !== 'turn_finished') await new Promise(setImmediate);
  assert.ok(connection.waiting() < limit + 2 * 1024 * 1024);
  connection.resume();
  assert.deepEqual(await prompt, { stopReason: 'end_turn' });
  assert.ok(client.text() === words.join('') && net.connections === 2);
  client.assertSound();
});

test('[BRIDGE9] a message that no server takes is refused, and the next request works', async () => {
  await using w = await world();
  const { net, client } = editorOf(w);
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  await assert.rejects(client.prompt(sessionId, 'x'.repeat(17 * 1024 * 1024)), /too large/);
  assert.deepEqual([await client.request('logout', {}), net.connections], [{}, 1]);
  client.assertSound();
});

test('[BRIDGE2] killed in mid-sentence and started again: the Turn goes on, and what was lost is not taken back', async () => {
  const settings = { recovery: 'resume' as const };
  await using w = await world({ ...hanging, settings });
  let server = w;
  const { net, client } = editorOf(w, { server: () => server.openPeer, slowly: true });
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  const prompt = client.prompt(sessionId, 'go');
  await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
  net.cut();
  await using next = await w.restart({ script: [[...say('The whole sentence.'), finish()]] });
  server = next;
  // The timers of the first life are gone, the editor's too.
  net.networkChanged();
  assert.deepEqual(await prompt, { stopReason: 'end_turn' });
  assert.equal(client.text(), 'Half a senThe whole sentence.');
  const types = await next.types(sessionId);
  assert.equal(types.filter((type) => type === 'turn_finished').length, 1);
  client.assertSound();
});

test('[BRIDGE10] a server that will not have us ends the bridge', async () => {
  await using w = await world();
  const { net, client, connection, refused } = editorOf(w, { slowly: true });
  await client.initialize();
  net.cut(4401);
  await new Promise(setImmediate);
  assert.deepEqual([refused, connection.closedWith()], [['credential'], 1000]);
});
