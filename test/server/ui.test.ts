/** The files of the browser UI as the server gives them out, and what it never gives out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { HASHED, SCRIPT } from '../support/ui-fixture.ts';
import { exchange, startServer, statusOf } from './support.ts';

const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4);

test('[UI1] the page and its files are served with their types, compressed as the browser takes it', async (t) => {
  const { port } = await startServer(t);
  const get = (path: string, accept?: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: accept === undefined ? {} : { 'accept-encoding': accept } });

  const page = await get('/');
  assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  assert.equal((await get('/sw.js')).headers.get('content-type'), 'text/javascript; charset=utf-8');
  assert.equal((await get('/assets/icon.svg')).headers.get('content-type'), 'image/svg+xml');

  // fetch decodes by itself: what is told here is what was sent.
  for (const [accept, sent] of [
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['identity', null],
    ['brotli', null],
  ] as const) {
    const script = await get(`/assets/${HASHED}`, accept);
    assert.equal(script.headers.get('content-encoding'), sent, accept);
    assert.equal(script.headers.get('vary'), 'accept-encoding');
    assert.equal(await script.text(), SCRIPT);
  }
  assert.equal((await get('/assets/icon.svg', 'br')).headers.get('content-encoding'), null);
});

test('[UI1] a compressed copy is the file itself', async (t) => {
  const { port } = await startServer(t);
  for (const [name, decode] of [
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const) {
    const { request } = await import('node:http');
    const chunks: Buffer[] = [];
    const path = `/assets/${HASHED}`;
    await new Promise((resolve) => {
      request({ port, host: '127.0.0.1', path, headers: { 'accept-encoding': name } }, (answer) =>
        answer.on('data', (chunk) => chunks.push(chunk)).on('end', resolve),
      ).end();
    });
    assert.equal(decode(Buffer.concat(chunks)).toString(), SCRIPT);
  }
});

test('[UI1] a file named after its content is kept for ever; what keeps its name is asked for again', async (t) => {
  const { port } = await startServer(t);
  const kept = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).headers.get('cache-control');
  assert.equal(await kept(`/assets/${HASHED}`), 'public, max-age=31536000, immutable');
  for (const path of ['/', '/sw.js', '/assets/icon.svg']) assert.equal(await kept(path), 'no-store', path);
});

test('[UI2] nothing but the files of the build is given out', async (t) => {
  const { port } = await startServer(t);
  for (const path of [
    '/assets/../../secret.js',
    '/assets/..%2f..%2fsecret.js',
    '/assets/..%2fsecret.js',
    '/assets/%2e%2e%2fsecret.js',
    '/assets/..%5csecret.js',
    '/assets/%00',
    '/assets/secret.js',
    '/assets/app.map',
    '/assets/',
    '/assets/constructor',
    `/assets/${HASHED}%00.js`,
    '/secret.js',
    '/index.html',
  ]) {
    const answer = await exchange(port, [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Connection: close']);
    assert.ok([400, 401, 404].includes(statusOf(answer)), `${path}: ${statusOf(answer)}`);
    assert.doesNotMatch(bodyOf(answer), /secret/);
  }
});

test('[UI2] the page may run and fetch only what comes from its own server, and nothing inline', async (t) => {
  const { port } = await startServer(t);
  const { headers } = await fetch(`http://127.0.0.1:${port}/`);
  const policy = Object.fromEntries(
    (headers.get('content-security-policy') ?? '').split('; ').map((line) => {
      const [directive = '', ...sources] = line.split(' ');
      return [directive, sources.join(' ')];
    }),
  );
  assert.equal(policy['default-src'], "'none'");
  for (const directive of ['script-src', 'style-src', 'font-src', 'connect-src', 'worker-src', 'manifest-src'])
    assert.equal(policy[directive], "'self'", directive);
  for (const directive of ['base-uri', 'form-action', 'frame-ancestors'])
    assert.equal(policy[directive], "'none'", directive);
  assert.equal(policy['img-src'], "'self' data: blob:");
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
});

test('[UI3] where the UI was not built, the page says so and the rest works', async (t) => {
  const { port, connect } = await startServer(t, { uiDir: '/nowhere' });
  const page = await fetch(`http://127.0.0.1:${port}/`);
  assert.equal(page.status, 503);
  assert.match(await page.text(), /npm run build:web/);
  assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200);
  await connect();
});
