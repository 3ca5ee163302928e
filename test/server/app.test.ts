import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { REPOSITORY } from '../support/processes.ts';
import { BEARER, exchange, startServer, statusOf, TOKEN } from './support.ts';

test('[HTTP1] /healthz is 200 while the server is up', async (t) => {
  const { port } = await startServer(t, { readiness: () => false });
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`);
  assert.equal(answer.status, 200);
  assert.deepEqual(await answer.json(), { status: 'ok' });
});

test('[HTTP1] /readyz is 503 while the server cannot work, also when the check itself fails', async (t) => {
  const answers: (() => boolean | Promise<boolean>)[] = [
    () => true,
    async () => true,
    () => false,
    () => Promise.reject(new Error('disk on fire')),
  ];
  const seen: string[] = [];
  const { port } = await startServer(t, { readiness: () => answers[seen.length]?.() ?? false });
  for (const _ of answers) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
    seen.push(`${answer.status} ${await answer.text()}`);
  }
  const [ready, unavailable] = ['200 {"status":"ready"}', '503 {"status":"unavailable"}'];
  assert.deepEqual(seen, [ready, ready, unavailable, unavailable]);
});

test('[HTTP2] GET /acp without an upgrade is 426 and says what to upgrade to', async (t) => {
  const { port } = await startServer(t);
  const answer = await fetch(`http://127.0.0.1:${port}/acp`, { headers: BEARER });
  assert.equal(answer.status, 426);
  assert.equal(answer.headers.get('upgrade'), 'websocket');
});

test('[HTTP2] an offer to upgrade to something else is a plain request', async (t) => {
  const { port } = await startServer(t);
  const lines = ['GET /healthz HTTP/1.1', `Host: localhost:${port}`, 'Upgrade: h2c', 'Connection: Upgrade, close'];
  assert.equal(statusOf(await exchange(port, lines)), 200);
});

test('[HTTP3] unknown paths, methods and bodies are JSON errors that repeat nothing of the request', async (t) => {
  const { port } = await startServer(t);
  const head = [`Host: localhost:${port}`, `Authorization: Bearer ${TOKEN}`, 'Connection: close'];
  const cases: [number, string[]][] = [
    [404, ['GET /canary HTTP/1.1', ...head]],
    [405, ['PUT /acp?canary HTTP/1.1', ...head]],
    [404, ['PUT /canary HTTP/1.1', ...head]],
    [400, ['GET /canary/%zz HTTP/1.1', ...head]],
    [400, ['POST /canary HTTP/1.1', ...head, 'Content-Type: application/json', 'Content-Length: 6', '', 'canary']],
    [413, ['POST /canary HTTP/1.1', ...head, 'Content-Type: application/json', 'Content-Length: 9999999']],
  ];
  for (const [status, request] of cases) {
    const answer = await exchange(port, request);
    assert.equal(statusOf(answer), status, answer);
    const [headers, body] = answer.split('\r\n\r\n');
    assert.match(headers ?? '', /^content-type: application\/json/im);
    assert.deepEqual(Object.keys(JSON.parse(body ?? '')), ['error']);
    assert.ok(!answer.includes('canary'), answer);
  }
});

test('[HTTP3] every answer forbids caching, framing and sniffing', async (t) => {
  const { port } = await startServer(t);
  for (const path of ['/', '/healthz', '/metrics', '/nowhere']) {
    const { headers } = await fetch(`http://127.0.0.1:${port}${path}`);
    assert.equal(headers.get('cache-control'), 'no-store', path);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
    assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, path);
    assert.equal(headers.get('access-control-allow-origin'), null, path);
  }
});

test('[HTTP4] / says what this is and how to connect', async (t) => {
  const { port } = await startServer(t, { uiDir: join(REPOSITORY, 'web') });
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
  assert.match(await answer.text(), /\/acp[\s\S]*Authorization: Bearer/);
});

test('[HTTP5] /metrics counts the connected clients', async (t) => {
  const server = await startServer(t);
  const scrape = async () => (await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers: BEARER })).text();
  assert.match(await scrape(), /^pixir_connections 0$/m);
  const client = await server.connect();
  const figures = await scrape();
  assert.match(figures, /^pixir_connections 1$/m);
  assert.match(figures, /^process_resident_memory_bytes [1-9]\d+$/m);
  assert.match(figures, /^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m);
  const { ended } = await server.peer();
  client.close();
  await ended;
  assert.match(await scrape(), /^pixir_connections 0$/m);
});
