import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { type ClientOptions, WebSocket as WsClient } from 'ws';
import { APP_LIMITS } from '../support/app-limits.ts';
import {
  ADA,
  BEARER,
  connectDeaf,
  exchange,
  manualClock,
  startServer,
  statusOf,
  TOKEN,
  upgradeLines,
} from './support.ts';

const UUID = /^acp-connection-id: [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/im;
const AUTHORIZED = [`Authorization: Bearer ${TOKEN}`];

/** Longer than any jittered ping interval. */
const ONE_BEAT_MS = 17_000;

async function closeCode(client: WsClient): Promise<number> {
  const [code] = await once(client, 'close');
  return code;
}

/** A message there and back: everything sent before it has arrived. */
async function roundTrip(client: WsClient, text: string): Promise<void> {
  const answered = once(client, 'message');
  client.send(text);
  assert.equal(String((await answered)[0]), text);
}

test('[WS1] the 101 carries a fresh Acp-Connection-Id', async (t) => {
  const { port } = await startServer(t);
  const first = await exchange(port, upgradeLines(port, AUTHORIZED));
  const second = await exchange(port, upgradeLines(port, AUTHORIZED));
  assert.match(first, UUID);
  assert.match(second, UUID);
  assert.notEqual(first.match(UUID)?.[0], second.match(UUID)?.[0]);
});

test('[WS1] the Peer learns the principal that admission found', async (t) => {
  const server = await startServer(t);
  await server.connect();
  assert.equal((await server.peer()).principal, ADA);
});

test('[WS2] each text frame is one message, both ways, in order', async (t) => {
  const server = await startServer(t);
  const client = await server.connect();
  const sent = ['{"a":1}', 'two\nlines', '\u2028', 'ä€😀', ' '.repeat(70_000)];
  const got: string[] = [];
  client.on('message', (data) => got.push(String(data)));
  for (const text of sent) client.send(text);
  while (got.length < sent.length) await once(client, 'message');
  assert.deepEqual(got, sent);
  assert.deepEqual(server.peers[0]?.received, sent);
});

test('[WS2] the WebSocket that Node brings connects and echoes', async (t) => {
  const server = await startServer(t);
  const client = new WebSocket(server.url, { headers: BEARER } as unknown as string[]);
  t.after(() => client.close());
  await once(client, 'open');
  client.send('hello');
  const [event] = await once(client, 'message');
  assert.equal(event.data, 'hello');
});

test('[WS3] a binary frame ends the connection with 4400 and reaches nobody', async (t) => {
  const server = await startServer(t);
  const client = await server.connect();
  client.send(Buffer.from('{}'));
  client.send('after');
  assert.equal(await closeCode(client), 4400);
  assert.deepEqual(server.peers[0]?.received, []);
});

test('[WS4] a frame at the limit passes, one byte more ends the connection with 1009', async (t) => {
  const server = await startServer(t, { limits: { ...APP_LIMITS, maxFrameBytes: 1000 } });
  const client = await server.connect();
  await roundTrip(client, 'x'.repeat(1000));
  client.send('x'.repeat(1001));
  assert.equal(await closeCode(client), 1009);
});

test('[WS4] text that is not UTF-8 ends the connection with 1007', async (t) => {
  const server = await startServer(t);
  const client = await server.connect();
  client.send(Buffer.from([0xff, 0xfe]), { binary: false });
  assert.equal(await closeCode(client), 1007);
});

test('[WS4] compression is never agreed on', async (t) => {
  const { port } = await startServer(t);
  const offer = 'Sec-WebSocket-Extensions: permessage-deflate';
  assert.doesNotMatch(await exchange(port, upgradeLines(port, [...AUTHORIZED, offer])), /sec-websocket-extensions/i);
});

test('[WS5] however a connection ends, its Peer hears of it exactly once', async (t) => {
  const endings: Record<string, (client: WsClient, server: Awaited<ReturnType<typeof startServer>>) => unknown> = {
    'closing handshake': (client) => client.close(),
    'connection reset': (client) => client.terminate(),
    'the Peer closes': (_client, server) => server.peers[0]?.transport.close(1000, 'done'),
    'the Peer closes twice': (_client, server) => {
      server.peers[0]?.transport.close(4408, 'too slow');
      server.peers[0]?.transport.close(1000, 'done');
    },
    'frame too big': (client) => client.send('x'.repeat(2000)),
    'server shutdown': (_client, server) => server.close(),
  };
  for (const [name, end] of Object.entries(endings)) {
    const server = await startServer(t, { limits: { ...APP_LIMITS, maxFrameBytes: 1000 } });
    const client = await server.connect();
    const closed = closeCode(client);
    const peer = await server.peer();
    end(client, server);
    await Promise.all([peer.ended, closed]);
    await server.close();
    assert.equal(peer.closed, 1, name);
  }
});

test('[WS5] sending after the end does nothing', async (t) => {
  const server = await startServer(t);
  const client = await server.connect();
  const peer = await server.peer();
  client.terminate();
  await peer.ended;
  peer.transport.send('too late');
  peer.transport.close(1000, 'again');
  assert.equal(peer.closed, 1);
});

test('[WS5] nothing reaches a Peer that has closed its connection', async (t) => {
  const server = await startServer(t);
  const client = await server.connect();
  const peer = await server.peer();
  peer.transport.close(1000, 'done');
  client.send('too late');
  await peer.ended;
  assert.deepEqual(peer.received, []);
});

test('[WS6] a slow reader makes bufferedAmount grow; when it reads again, everything arrives and onDrain is called', async (t) => {
  const server = await startServer(t);
  const client = await server.connect();
  const { transport } = await server.peer();
  const drained = Promise.withResolvers<number>();
  transport.onDrain(() => drained.resolve(transport.bufferedAmount));

  client.pause();
  // The kernel takes several MiB before anything is left over here.
  const frames = 400;
  for (let index = 0; index < frames; index += 1) {
    if (index % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    transport.send(`${index}:${'x'.repeat(64 * 1024)}`);
  }
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(transport.bufferedAmount > 1024 * 1024, `${transport.bufferedAmount} bytes wait`);

  let next = 0;
  client.on('message', (data) => {
    assert.equal(Number.parseInt(String(data), 10), next);
    next += 1;
  });
  client.resume();
  assert.equal(await drained.promise, 0);
  while (next < frames) await once(client, 'message');
});

test('[WS6] the frames of a tick wait for its end, and onDrain follows', async (t) => {
  const server = await startServer(t);
  const client = await server.connect();
  const { transport } = await server.peer();
  const drained = Promise.withResolvers<void>();
  transport.onDrain(drained.resolve);
  const first = once(client, 'message');
  transport.send('first');
  transport.send('second');
  assert.ok(transport.bufferedAmount >= 'firstsecond'.length, 'an uncorked socket would have been written at once');
  await drained.promise;
  assert.equal(transport.bufferedAmount, 0);
  assert.equal(String((await first)[0]), 'first');
});

test('[WS7] a client that answers pings stays connected', async (t) => {
  const clock = manualClock();
  const server = await startServer(t, { clock });
  const client = await server.connect();
  await server.peer();
  for (let beat = 0; beat < 8; beat += 1) {
    const pinged = once(client, 'ping');
    clock.advance(ONE_BEAT_MS);
    await pinged;
    // The pong was sent before this message, so it has been seen when the answer is here.
    await roundTrip(client, `beat ${beat}`);
  }
  assert.equal(client.readyState, WsClient.OPEN);
  const { ended } = await server.peer();
  client.close();
  await ended;
  assert.equal(clock.pending(), 0, 'nobody pings a connection that has ended');
});

test('[WS7] a client that leaves three pings unanswered is cut', async (t) => {
  const clock = manualClock();
  const server = await startServer(t, { clock });
  const client = new WsClient(server.url, { headers: BEARER, autoPong: false } satisfies ClientOptions);
  await once(client, 'open');
  const { ended } = await server.peer();
  for (let ping = 0; ping < 3; ping += 1) {
    const pinged = once(client, 'ping');
    clock.advance(ONE_BEAT_MS);
    await pinged;
  }
  assert.equal(client.readyState, WsClient.OPEN);
  const closed = closeCode(client);
  clock.advance(ONE_BEAT_MS);
  assert.equal(await closed, 1006);
  await ended;
});

test('[WS8] a Peer that throws costs its own connection (4500) and no other', async (t) => {
  const server = await startServer(t, {
    openPeer: (transport) => ({
      receive(text) {
        if (text === 'boom') throw new TypeError('a defect');
        transport.send(text);
      },
      draining() {},
      async idle() {},
      closed() {},
    }),
  });
  const [bad, good] = [await server.connect(), await server.connect()];
  bad.send('boom');
  assert.equal(await closeCode(bad), 4500);
  await roundTrip(good, 'still here');
  assert.match(server.log(), /connection failed/);
});

test('[WS8] a Peer that cannot be opened ends the connection with 4500', async (t) => {
  const server = await startServer(t, {
    openPeer: () => {
      throw new TypeError('a defect');
    },
  });
  assert.equal(await closeCode(await server.connect()), 4500);
});

test('[WS9] shutdown tells every client 1012 and lets nobody new in', async (t) => {
  const server = await startServer(t);
  const clients = [await server.connect(), await server.connect()];
  const codes = Promise.all(clients.map(closeCode));
  await server.close();
  assert.deepEqual(await codes, [1012, 1012]);
  await assert.rejects(server.connect());
});

test('[WS9] shutdown cuts clients that do not answer once its grace is over', async (t) => {
  const clock = manualClock();
  const server = await startServer(t, { clock, shutdownGraceMs: 1000 });
  const deaf = await connectDeaf(t, server.port);
  const { ended } = await server.peer();
  const gone = once(deaf, 'close');
  const closing = server.close();
  const polite = await exchange(server.port, upgradeLines(server.port, AUTHORIZED));
  assert.equal(statusOf(polite), 503);
  clock.advance(1001);
  await Promise.all([gone, ended, closing]);
});

test('[WS10] of the subprotocols offered only acp.v1 is chosen and nothing else comes back', async (t) => {
  const { port } = await startServer(t);
  const offer = (protocols: string) =>
    exchange(port, upgradeLines(port, [...AUTHORIZED, `Sec-WebSocket-Protocol: ${protocols}`]));
  assert.match(await offer('secret-1, acp.v1'), /^sec-websocket-protocol: acp\.v1\r$/im);
  assert.doesNotMatch(await offer('secret-1'), /sec-websocket-protocol/i);
});
