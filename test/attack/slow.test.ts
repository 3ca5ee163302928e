/** Slow senders by the hundred: each is closed in time, and costs the others nothing. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { createApp } from '../../src/server/app.ts';
import { exchange, statusOf } from '../server/support.ts';
import { APP_LIMITS } from '../support/app-limits.ts';
import { hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { tempDir } from '../support/temp-dir.ts';

const EACH = 500;
const HEADERS_TIMEOUT_MS = 500;

async function listening(tls?: { cert: string; key: string }) {
  const nothing = () => {};
  const app = await createApp({
    openPeer: () => assert.fail('nobody connects'),
    authenticate: () => undefined,
    readiness: () => true,
    logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    limits: APP_LIMITS,
    headersTimeoutMs: HEADERS_TIMEOUT_MS,
    tls,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { port, server: app.server, [Symbol.asyncDispose]: () => app.close() };
}

/** Connections that are open; each leaves the set when the server closes it. */
async function open(port: number, count: number): Promise<Set<Socket>> {
  const sockets = new Set<Socket>();
  for (let n = 0; n < count; n++) {
    const socket = connect(port, '127.0.0.1');
    sockets.add(socket);
    // Whatever is answered, a 408 or nothing, is read, or the end would not be seen.
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.resume();
  }
  await Promise.all([...sockets].map((socket) => once(socket, 'connect')));
  return sockets;
}

test('[ATK9] 500 that send headers byte by byte and 500 that send nothing are closed; others are served meanwhile', async () => {
  await using stage = await listening();
  const { port, server } = stage;
  const [silent, slow] = [await open(port, EACH), await open(port, EACH)];
  const begin = 'GET /healthz HTTP/1.1\r\nX-Slow: ';
  const times: number[] = [];
  // One byte of each for each request of somebody else.
  for (let round = 0; silent.size + slow.size > 0; round++) {
    for (const socket of slow) socket.write(begin[round] ?? 'x');
    const asked = performance.now();
    const lines = ['GET /healthz HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Connection: close'];
    assert.equal(statusOf(await exchange(port, lines)), 200);
    times.push(performance.now() - asked);
  }
  const p99 = times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Infinity;
  assert.ok(times.length >= 5, `${times.length} others were served`);
  assert.ok(p99 < 500, `p99 ${p99.toFixed()} ms of ${times.length}`);
  const left = await new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
  assert.equal(left, 0);
});

test('[ATK9] with TLS, who never shakes hands is closed too', { skip: hasOpenssl ? false : 'no openssl' }, async () => {
  await using dir = await tempDir();
  await using stage = await listening(makeCertificate(dir.path, 'localhost'));
  const sockets = await open(stage.port, 50);
  await Promise.all([...sockets].map((socket) => once(socket, 'close')));
  const left = await new Promise((resolve) => stage.server.getConnections((_error, count) => resolve(count)));
  assert.equal(left, 0);
});
