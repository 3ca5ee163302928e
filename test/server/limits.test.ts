/** How many clients may be connected, and how fast they may speak. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { OpenPeer } from '../../src/acp/transport.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { throttle } from '../../src/server/throttle.ts';
import { createAcpEndpoint, type EndpointLimits } from '../../src/server/websocket.ts';
import { exchange, manualClock, statusOf, upgradeLines } from './support.ts';

const LIMITS: EndpointLimits = {
  maxFrameBytes: 1_000_000,
  maxMessagesPerSecond: 1_000,
  maxConnections: 100,
  maxConnectionsPerOwner: 100,
};

/** An endpoint behind a plain HTTP server: each client is the owner that its header names. */
async function startEndpoint(t: TestContext, overrides: Partial<EndpointLimits>) {
  const clock = manualClock();
  const received = new Map<string, string[]>();
  const openPeer: OpenPeer = (transport, { owner }) => {
    const texts: string[] = [];
    received.set(owner, texts);
    return {
      receive(text) {
        texts.push(text);
        transport.send(text.slice(0, 20));
      },
      draining() {},
      async idle() {},
      closed() {},
    };
  };
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const endpoint = createAcpEndpoint({
    openPeer,
    clientAddress: () => '',
    logger,
    clock,
    limits: { ...LIMITS, ...overrides },
  });
  const server = createServer().on('upgrade', (request, socket, head) => {
    const owner = String(request.headers.authorization);
    endpoint.accept(request, socket, head, { principal: { ...LOCAL, owner } });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  t.after(() => server.close());
  return {
    port,
    clock,
    endpoint,
    received,
    async connect(owner: string) {
      const client = new WebSocket(`ws://127.0.0.1:${port}/acp`, { headers: { authorization: owner } });
      t.after(() => client.terminate());
      await once(client, 'open');
      return client;
    },
    /** What is answered to one more handshake. */
    knock: (owner: string, ...lines: string[]) =>
      exchange(port, [...upgradeLines(port, [`Authorization: ${owner}`]), ...lines]),
    async left(connections: number) {
      while (endpoint.connections() > connections) await setImmediate();
    },
  };
}

async function roundTrip(client: WebSocket, text: string): Promise<void> {
  const answered = once(client, 'message');
  client.send(text);
  assert.equal(String((await answered)[0]), text);
}

test('[LIMIT8] a connection too many is refused before the 101, by owner and in all, and says when to come back', async (t) => {
  const server = await startEndpoint(t, { maxConnections: 3, maxConnectionsPerOwner: 2 });
  const [first] = [await server.connect('ada'), await server.connect('ada')];
  const refused = await server.knock('ada');
  assert.equal(statusOf(refused), 429);
  assert.match(refused, /^retry-after: 5\r$/im);
  assert.match(refused, /\r\n\r\n\{"error":"too many requests","limit":"connections_per_owner"\}$/);
  await server.connect('bob');
  assert.match(await server.knock('bob'), /^HTTP\/1\.1 429 .*"limit":"connections"\}$/s);
  assert.match(await server.knock('eve'), /"limit":"connections"\}$/);
  await roundTrip(first, 'still here');
  first.close();
  await server.left(2);
  await server.connect('ada');
  assert.equal(statusOf(await server.knock('ada')), 429);
});

test('[LIMIT8] however connections end, and whatever handshakes fail, the places are free again', async (t) => {
  const server = await startEndpoint(t, { maxConnections: 2, maxFrameBytes: 100 });
  const endings: ((client: WebSocket) => void)[] = [
    (client) => client.close(),
    (client) => client.terminate(),
    (client) => client.send('x'.repeat(101)),
    (client) => client.send(Buffer.from('binary')),
  ];
  for (const end of [...endings, ...endings]) {
    end(await server.connect('ada'));
    await server.left(0);
    for (let n = 0; n < 3; n++) assert.equal(statusOf(await server.knock('ada', 'Sec-WebSocket-Version: 99')), 400);
  }
  await Promise.all([server.connect('ada'), server.connect('ada')]);
  assert.equal(statusOf(await server.knock('ada')), 429);
});

/** A connection that hands out messages as long as it is not paused. */
function flow(perSecond: number) {
  const clock = manualClock();
  const state = { paused: false, given: 0, ended: 0 };
  const source = {
    pause() {
      state.paused = true;
    },
    resume() {
      state.paused = false;
    },
  };
  const pace = throttle({ source, perSecond, clock, onRelentless: () => state.ended++ });
  const give = (messages: number) => {
    for (let n = 0; n < messages && !state.paused; n++) {
      state.given++;
      pace.count();
    }
  };
  return { clock, state, pace, give };
}

test("[LIMIT9] a second's worth comes at once, and what is more when there is room for it again", () => {
  const { clock, state, give } = flow(100);
  give(100);
  assert.equal(state.paused, false);
  give(10);
  assert.deepEqual(state, { paused: true, given: 101, ended: 0 });
  clock.advance(509);
  assert.equal(state.paused, true);
  clock.advance(1);
  assert.equal(state.paused, false);
  give(100);
  assert.deepEqual(state, { paused: true, given: 152, ended: 0 });
});

test('[LIMIT9] what had arrived in one piece is delivered whole and waited for afterwards', () => {
  const { clock, state, pace } = flow(100);
  for (let n = 0; n < 600; n++) pace.count();
  for (const paused of [true, true, true, true, true, false]) {
    clock.advance(950);
    assert.equal(state.paused, paused);
  }
  assert.equal(state.ended, 0);
});

test('[LIMIT9] who speaks at the rate is never paused, slow or fast', () => {
  for (const perSecond of [1, 7, 100, 10_000]) {
    const { clock, state, give } = flow(perSecond);
    for (let second = 0; second < 120; second++) {
      give(perSecond);
      assert.equal(state.paused, false);
      clock.advance(1_000);
    }
    assert.deepEqual(state, { paused: false, given: 120 * perSecond, ended: 0 });
  }
});

test('[LIMIT9] who never lets up for 30 s is given up; whoever pauses for breath is not', () => {
  const relentless = flow(100);
  for (let at = 0; at < 30_000; at += 10) {
    relentless.give(1_000);
    assert.equal(relentless.state.ended, 0);
    relentless.clock.advance(10);
  }
  assert.equal(relentless.state.ended, 1);
  assert.ok(relentless.state.given < 31 * 100 + 10, `${relentless.state.given}`);
  const breathing = flow(100);
  for (let burst = 0; burst < 30; burst++) {
    for (let at = 0; at < 20_000; at += 10) {
      breathing.give(1_000);
      breathing.clock.advance(10);
    }
    for (let at = 0; at < 2_000; at += 10) breathing.clock.advance(10);
  }
  assert.equal(breathing.state.ended, 0);
  const done = flow(100);
  done.give(200);
  done.pace.end();
  done.clock.advance(60_000);
  assert.deepEqual([done.state.ended, done.clock.pending()], [0, 0]);
});

// Larger than what is read in one piece, so that a pause shows.
const LARGE = 'x'.repeat(70_000);

test('[LIMIT9] a real connection is read more slowly, nothing is lost, and others do not notice', async (t) => {
  const server = await startEndpoint(t, { maxMessagesPerSecond: 10 });
  const [fast, calm] = [await server.connect('fast'), await server.connect('calm')];
  const sent = Array.from({ length: 100 }, (_, n) => `${n} ${LARGE}`);
  for (const text of sent) fast.send(text);
  const got = server.received.get('fast') ?? [];
  while (got.length < 11) await setImmediate();
  for (let n = 0; n < 5; n++) await roundTrip(calm, `${n}`);
  // One more may have been in hand.
  assert.ok(got.length <= 12, `${got.length}`);
  while (got.length < sent.length) {
    const before = got.length;
    while (got.length === before) {
      server.clock.advance(50);
      await setImmediate();
    }
  }
  assert.deepEqual(got, sent);
  assert.equal(fast.readyState, WebSocket.OPEN);
});

test('[LIMIT9] pings count as well', async (t) => {
  const server = await startEndpoint(t, { maxMessagesPerSecond: 10 });
  const [pinging, calm] = [await server.connect('pinging'), await server.connect('calm')];
  for (let n = 0; n < 11; n++) {
    pinging.ping();
    await once(pinging, 'pong');
  }
  const answered = once(pinging, 'message');
  pinging.send('hello');
  for (let n = 0; n < 5; n++) await roundTrip(calm, `${n}`);
  assert.deepEqual(server.received.get('pinging'), []);
  server.clock.advance(1_000);
  await answered;
});

test('[LIMIT9] a real connection that never lets up ends with 4429, whether or not it answers', async (t) => {
  const server = await startEndpoint(t, { maxMessagesPerSecond: 10 });
  const client = await server.connect('flood');
  let ended: [number, Buffer] | undefined;
  client.on('close', (code, reason) => {
    ended = [code, reason];
  });
  for (let n = 0; n < 600; n++) client.send(LARGE);
  while (!ended) {
    server.clock.advance(100);
    await setImmediate();
  }
  assert.deepEqual([ended[0], String(ended[1])], [4429, 'too many messages']);
  await server.left(0);
  assert.ok((server.received.get('flood') ?? []).length < 400);
});
