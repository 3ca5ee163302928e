/** What one connection may use: what is beyond it is refused by name, and changes nothing. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { finish, say } from '../../src/providers/script.ts';
import { environmentFor, runPixir, startPixir, startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { RpcError, type WireClient } from '../support/wire-client.ts';
import { world } from '../support/world.ts';

const hanging = [{ type: 'hang' as const }];
const done = [...say('Done.'), finish()];

function limited(limit: string, max: number) {
  return (error: unknown) => {
    assert.ok(error instanceof RpcError, String(error));
    assert.deepEqual([error.code, error.data], [-32600, { reason: 'limit_exceeded', limit, max }]);
    return true;
  };
}

const attach = (client: WireClient, sessionId: string) => client.request('_pixir/session/attach', { sessionId });
const outcomes = async (asked: Promise<unknown>[]) =>
  (await Promise.allSettled(asked)).map(({ status }) => status).sort();

test('[LIMIT5] a request too many is refused at once and changes nothing; the next one works', async () => {
  await using w = await world({ script: [hanging, hanging], limits: { requestsInFlight: 2 } });
  const client = await w.client();
  const [one, two] = [await client.newSession(w.dir), await client.newSession(w.dir)];
  const turns = [client.prompt(one, 'go'), client.prompt(two, 'go')];
  const setMode = () => client.request('session/set_mode', { sessionId: two, modeId: 'plan' });
  await assert.rejects(setMode(), limited('requests_in_flight', 2));
  await assert.rejects(client.newSession(w.dir), limited('requests_in_flight', 2));
  assert.equal((await w.types(two)).includes('session_configured'), false);
  assert.equal(await w.log.count(), 2);
  client.notify('session/cancel', { sessionId: one });
  assert.equal((await turns[0])?.stopReason, 'cancelled');
  await setMode();
  client.notify('session/cancel', { sessionId: two });
  assert.equal((await turns[1])?.stopReason, 'cancelled');
});

test('[LIMIT5] a refused request does not take over the id of one that is being handled', async () => {
  await using w = await world({ script: [hanging], limits: { requestsInFlight: 1 } });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  const prompt = [{ type: 'text', text: 'go' }];
  client.raw({ jsonrpc: '2.0', id: 'same', method: 'session/prompt', params: { sessionId, prompt } });
  client.raw({ jsonrpc: '2.0', id: 'same', method: 'session/set_mode', params: { sessionId, modeId: 'plan' } });
  const refused = await client.frame(({ id }) => id === 'same');
  assert.equal(refused.error?.data?.reason, 'limit_exceeded');
  // A cancel is no request, also where a client gives it a blank id: it has to get through.
  client.raw({ jsonrpc: '2.0', id: '', method: 'session/cancel', params: { sessionId: 'none' } });
  client.notify('$/cancel_request', { requestId: 'same' });
  const answered = await client.frame(({ id, result }) => id === 'same' && result !== undefined);
  assert.equal(answered.result?.stopReason, 'cancelled');
  assert.equal(client.frames.filter(({ id }) => id === '').length, 0);
});

test('[LIMIT5] of a thousand requests in one moment each is answered once, as many as may be with what they asked', async () => {
  await using w = await world({ limits: { requestsInFlight: 10 } });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  const ids = Array.from({ length: 1_000 }, (_, n) => `r${n}`);
  const asked = ids.map((id) => client.request('_pixir/session/history', { sessionId, limit: 1 }, id));
  const settled = await outcomes(asked);
  assert.ok(settled.filter((status) => status === 'fulfilled').length >= 10);
  const answers = client.frames.flatMap(({ id, method }) =>
    method === undefined && ids.includes(`${id}`) ? [id] : [],
  );
  assert.deepEqual(answers.toSorted(), ids.toSorted());
});

test('[LIMIT6] a connection attaches to so many Sessions; again to one of them, or after a detach, is no more', async () => {
  await using w = await world({ script: [done], limits: { attachedSessions: 2 } });
  const maker = await w.client();
  const [one, two] = [await maker.newSession(w.dir), await maker.newSession(w.dir)];
  await assert.rejects(maker.newSession(w.dir), limited('attached_sessions', 2));
  assert.equal(await w.log.count(), 2, 'a Session without a place is not made');
  const other = await w.client();
  const three = await other.newSession(w.dir);
  const load = { sessionId: three, cwd: w.dir, mcpServers: [] };
  await assert.rejects(attach(maker, three), limited('attached_sessions', 2));
  await assert.rejects(maker.request('session/load', load), limited('attached_sessions', 2));
  await assert.rejects(maker.prompt(three, 'go'), limited('attached_sessions', 2));
  for (const id of [one, two, one]) await attach(maker, id);
  assert.equal((await maker.prompt(one, 'go')).stopReason, 'end_turn');
  await maker.request('_pixir/session/detach', { sessionId: two });
  await maker.request('session/load', load);
  await assert.rejects(attach(maker, two), limited('attached_sessions', 2));
  await other.newSession(w.dir);
});

test('[LIMIT6] of those that want the last place in one moment one gets it; what fails takes none', async () => {
  await using w = await world({ limits: { attachedSessions: 2 } });
  const maker = await w.client();
  const [one, two] = [await maker.newSession(w.dir), await maker.newSession(w.dir)];
  const client = await w.client();
  for (const sessionId of ['none', 'nobody', 'nothing']) await assert.rejects(attach(client, sessionId));
  await assert.rejects(client.newSession(`${w.dir}/none`));
  await assert.rejects(client.newSession(`${w.dir}/none`));
  const three = await client.newSession(w.dir);
  assert.deepEqual(await outcomes([attach(client, one), attach(client, two)]), ['fulfilled', 'rejected']);
  for (const sessionId of [one, two])
    await client.request('_pixir/session/detach', { sessionId }).catch(() => undefined);
  const made = await outcomes([client.newSession(w.dir), client.newSession(w.dir), attach(client, one)]);
  assert.deepEqual(made, ['fulfilled', 'rejected', 'rejected']);
  assert.equal(await w.log.count(), 4);
  await attach(client, three);
});

test('[LIMIT7] a client that does not initialize in time is sent away; one that did stays', async () => {
  await using w = await world({ limits: { initializeTimeoutMs: 10_000 } });
  const [silent, busy, gone, good] = [w.connect(), w.connect(), w.connect(), w.connect()];
  await assert.rejects(busy.client.newSession(w.dir));
  gone.client.close();
  await good.client.initialize();
  w.clock.advance(9_999);
  assert.deepEqual([silent.closedWith(), busy.closedWith()], [undefined, undefined]);
  w.clock.advance(1);
  assert.deepEqual([silent.closedWith(), busy.closedWith()], [4400, 4400]);
  w.clock.advance(60_000);
  assert.deepEqual([gone.closedWith(), good.closedWith()], [undefined, undefined]);
  await good.client.newSession(w.dir);
});

test('[LIMIT7] a server sends away who is silent, an agent on stdio waits for its editor', async () => {
  await using dir = await tempDir();
  const hurried = { PIXIR_INITIALIZE_TIMEOUT_MS: '1' };
  {
    await using server = await startServer(dir.path, hurried);
    const headers = { authorization: `Bearer ${server.token}` };
    const socket = new WebSocket(`${server.url.replace(/^http/, 'ws')}/acp`, { headers });
    const [code, reason] = await once(socket, 'close');
    assert.deepEqual([code, String(reason)], [4400, 'no initialize']);
  }
  await using agent = startPixir(['acp'], environmentFor(dir.path, hurried));
  const lines = createInterface(agent.child.stdout as Readable);
  const ask = async (id: number, method: string) => {
    const answer = once(lines, 'line') as Promise<[string]>;
    agent.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { protocolVersion: 1 } })}\n`);
    return JSON.parse((await answer)[0]);
  };
  for (let id = 1; id < 20; id++) assert.equal((await ask(id, 'session/list')).id, id);
  assert.equal((await ask(20, 'initialize')).result.protocolVersion, 1);
});

test('[LIMIT4] a command line without room on its disk says so', async () => {
  await using dir = await tempDir();
  const env = environmentFor(dir.path, { PIXIR_MIN_FREE_DISK_BYTES: `${Number.MAX_SAFE_INTEGER}` });
  const { code, stderr } = await runPixir(['run', 'hello', '--cwd', dir.path], env);
  assert.notEqual(code, 0);
  assert.match(stderr, /the disk of the server is nearly full/);
  assert.match(stderr, /new prompts are refused/);
});
