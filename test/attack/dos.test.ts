/** Whoever holds a credential, or none, and wants to wear the server down: it costs the attacker, and others go on. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connectDeaf, startServer, TOKEN } from '../server/support.ts';
import { world } from '../support/world.ts';
import { connectWebSocket } from '../support/ws-wire.ts';

const NIGHTLY = process.env.PIXIR_NIGHTLY === '1';
const MEGABYTE = 1024 * 1024;
/** What somebody else waits for an answer, in milliseconds: generous, because attackers and server share this process. */
const BEARABLE = 500;

const url = (port: number) => ({ url: `http://127.0.0.1:${port}`, token: TOKEN });

/** Asks something again and again until `attack` is over. @returns how long the slowest but one in a hundred took. */
async function meanwhile(ask: () => Promise<unknown>, attack: Promise<unknown>): Promise<number> {
  const took: number[] = [];
  let over = false;
  const ended = attack.finally(() => {
    over = true;
  });
  while (!over || took.length < 100) {
    const asked = performance.now();
    await ask();
    took.push(performance.now() - asked);
  }
  await ended;
  return took.toSorted((a, b) => a - b)[Math.ceil(took.length * 0.99) - 1] ?? 0;
}

/** A real agent behind a real server, and an honest client of it. */
async function besieged(t: TestContext) {
  const w = await world();
  t.after(() => w[Symbol.asyncDispose]());
  const server = await startServer(t, { openPeer: w.openPeer });
  const { client, socket } = await connectWebSocket(url(server.port));
  t.after(() => socket.terminate());
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  return { w, server, ask: () => client.request('_pixir/session/history', { sessionId, limit: 10 }) };
}

/** A masked frame with one byte in it. */
const fragment = (opcode: 0 | 1) => [opcode, 0x81, 0, 0, 0, 0, 0x20];
const PEERS = 50;
const FRAGMENTS = NIGHTLY ? 100_000 : 10_000;

test(`[ATK9] ${PEERS} clients with ${FRAGMENTS} fragments of one byte each are cut, cheaply`, async (t) => {
  const { server, ask } = await besieged(t);
  const flood = Buffer.from([...fragment(1), ...Array.from({ length: FRAGMENTS }, () => fragment(0)).flat()]);
  const peers = await Promise.all(Array.from({ length: PEERS }, () => connectDeaf(t, server.port)));
  const before = process.memoryUsage.rss();
  const attack = peers.map(async (peer) => {
    peer.on('error', () => undefined);
    peer.write(flood);
    const [last] = (await once(peer, 'data')) as [Buffer];
    // The close frame: 1008, what the policy does not allow.
    assert.equal(last.subarray(0, 4).toString('hex'), '880203f0');
    peer.destroy();
  });
  assert.ok((await meanwhile(ask, Promise.all(attack))) < BEARABLE);
  assert.ok(process.memoryUsage.rss() - before < 100 * MEGABYTE);
});

const SLOW = 500;

test(`[ATK9] ${SLOW} clients that send their headers byte by byte are cut, and others are let in meanwhile`, async (t) => {
  const server = await startServer(t, { headersTimeoutMs: 500 });
  const open = new Set<Socket>();
  const closed = Array.from({ length: SLOW }, async () => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
    open.add(socket);
    t.after(() => socket.destroy());
    socket.resume().write('GET /acp HTTP/1.1\r\nX: ');
    // An error comes before it where a byte was under way.
    await new Promise((resolve) => socket.once('close', resolve));
    open.delete(socket);
  });
  const dribbleAndAsk = async () => {
    for (const socket of open) socket.write('x');
    const client = await server.connect();
    client.send('hello');
    await once(client, 'message');
    client.terminate();
  };
  assert.ok((await meanwhile(dribbleAndAsk, Promise.all(closed))) < BEARABLE);
  assert.equal(open.size, 0);
});

const REQUESTS = 5_000;

test(`[ATK9] a client that asks ${REQUESTS} things at once is answered each of them once, and others meanwhile`, async (t) => {
  const { w, server, ask } = await besieged(t);
  const { client, socket } = await connectWebSocket(url(server.port));
  t.after(() => socket.terminate());
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  const ids = Array.from({ length: REQUESTS }, (_, n) => `r${n}`);
  const before = process.memoryUsage.rss();
  const asked = ids.map((id) => client.request('_pixir/session/history', { sessionId, limit: 100 }, id));
  assert.ok((await meanwhile(ask, Promise.allSettled(asked))) < BEARABLE);
  const answers = client.frames.filter(({ id }) => String(id).startsWith('r'));
  assert.deepEqual(answers.map(({ id }) => id).toSorted(), ids.toSorted());
  const reasons = new Set(answers.map(({ error }) => error?.data?.reason));
  reasons.delete('limit_exceeded');
  assert.deepEqual([...reasons], [undefined]);
  assert.ok(process.memoryUsage.rss() - before < 100 * MEGABYTE);
  client.assertSound();
});
