/** Where `pixir serve` may listen, what it says of itself, and who comes in over TLS: as real processes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { connect, createServer } from 'node:tls';
import { WebSocket } from 'ws';
import { assertSafeBinding, loadTls } from '../../src/cli/front-door.ts';
import { exchange } from '../server/support.ts';
import { type Certificate, hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { environmentFor, runPixir, startPixir } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { WireClient } from '../support/wire-client.ts';

const openssl = { skip: hasOpenssl ? false : 'no openssl' };

/** A server and the first two lines of its output. */
async function serve(dataDir: string, ...args: string[]) {
  const running = startPixir(['serve', '--port', '0', '--workspace', dataDir, ...args], environmentFor(dataDir));
  const lines = createInterface({ input: running.child.stdout as Readable })[Symbol.asyncIterator]();
  const { value: first = '' } = await lines.next();
  const { value: second = '' } = await lines.next();
  assert.equal(running.stderr(), '');
  const [, url = assert.fail(first)] = first.match(/^listening on (https?:\/\/\S+)$/) ?? [];
  const [, link = assert.fail(second)] = second.match(/^open (https?:\/\/\S+) \(once, within a minute\)$/) ?? [];
  return { ...running, url, link, port: Number(new URL(url).port) };
}

/** `pixir acp` beside a server. */
function editor(dataDir: string) {
  const running = startPixir(['acp'], environmentFor(dataDir), dataDir);
  const { child } = running;
  const client = new WireClient().open({
    send: (text) => child.stdin?.write(`${text}\n`),
    close: () => child.stdin?.end(),
  });
  createInterface({ input: child.stdout as Readable }).on('line', client.receive);
  return { ...running, client };
}

async function converses(client: WireClient, dir: string): Promise<void> {
  await client.initialize();
  const sessionId = await client.newSession(dir);
  assert.deepEqual(await client.prompt(sessionId, 'echo hello'), { stopReason: 'end_turn' });
  assert.equal(client.text(sessionId, 'agent_message_chunk').trim(), 'hello');
  client.assertSound();
}

/** What a browser does with the link: it never sends the fragment, its page does. */
async function signIn(link: string): Promise<Response> {
  const { origin, hash } = new URL(link);
  const code = new URLSearchParams(hash.slice(1)).get('launch');
  const headers = { 'content-type': 'application/json', origin };
  return fetch(`${origin}/api/login`, { method: 'POST', headers, body: JSON.stringify({ code }) });
}

async function refusesToStart(args: string[], expected: RegExp): Promise<void> {
  await using dir = await tempDir();
  const dataDir = join(dir.path, 'data');
  await using running = startPixir(['serve', '--port', '0', ...args], environmentFor(dataDir));
  let stdout = '';
  running.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    // It listens where it must not: not for a moment longer.
    running.child.kill('SIGKILL');
  });
  const { code } = await running.exit();
  const stderr = running.stderr();
  assert.deepEqual([code, stdout], [1, ''], args.join(' '));
  assert.match(stderr, expected);
  assert.match(stderr, /^pixir: [^\n]+\n$/, 'one line');
  // Whoever listens has a data directory by then.
  assert.ok(!existsSync(dataDir), 'nothing was begun');
}

function binding(): void {
  const lan = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  for (const host of ['0.0.0.0', '::', lan ?? '10.0.0.5'])
    test(`[BIND1] without TLS or a proxy it does not listen on ${host === lan ? 'an address of a network' : host}`, () =>
      refusesToStart(['--host', host], /--tls-cert and --tls-key.*--behind-proxy.*127\.0\.0\.1/));

  test('[BIND1] a name that is not that of loopback is refused, however it looks', () => {
    const bind = (host: string, more: { tlsCert?: string; tlsKey?: string; behindProxy?: string[] } = {}) =>
      assertSafeBinding({ host, tlsCert: undefined, tlsKey: undefined, behindProxy: undefined, ...more });
    for (const host of ['localhost', '127.0.0.1', '127.8.8.8', '::1']) bind(host);
    for (const host of ['pixir.example.org', '127.0.0.1.example.org', '127.1', 'localhost.', '::ffff:1.2.3.4', '']) {
      assert.throws(() => bind(host), /--tls-cert and --tls-key/, host);
      bind(host, { tlsCert: 'cert.pem', tlsKey: 'key.pem' });
      bind(host, { behindProxy: ['10.0.0.1'] });
    }
    assert.throws(() => bind('::1', { tlsKey: 'key.pem' }), /--tls-cert is missing/);
    assert.throws(() => bind('0.0.0.0', { tlsKey: 'key.pem', behindProxy: ['::1'] }), /--tls-cert is missing/);
  });

  test('[BIND1] half of a certificate and its key is refused, and what is no certificate', openssl, async () => {
    await using dir = await tempDir();
    const [good, other] = [makeCertificate(dir.path, 'good'), makeCertificate(dir.path, 'other')];
    const junk = join(dir.path, 'junk.pem');
    await writeFile(junk, '-----BEGIN CERTIFICATE-----\nsecret\n-----END CERTIFICATE-----\n');
    await refusesToStart(['--tls-cert', good.certFile], /--tls-key is missing/);
    const load = (tlsCert: string, tlsKey: string) => loadTls({ host: '', tlsCert, tlsKey, behindProxy: undefined });
    assert.throws(() => load('/nowhere/cert.pem', good.keyFile), /^CoreError: \/nowhere\/cert\.pem: .*ENOENT/);
    const none = /are not a certificate and its key/;
    assert.throws(() => load(good.certFile, junk), none);
    assert.throws(() => load(good.certFile, other.keyFile), none);
    await refusesToStart(['--tls-cert', junk, '--tls-key', good.keyFile], none);
  });
}

async function tlsVersion(port: number, version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3', cert: string) {
  // Level 0: else the client itself would refuse what the server has to.
  const options = { minVersion: version, maxVersion: version, ciphers: 'ALL:@SECLEVEL=0', ca: cert };
  const socket = connect({ port, host: '127.0.0.1', servername: 'elsewhere.example', ...options });
  const agreed = await Promise.race([
    once(socket, 'secureConnect').then(() => socket.getProtocol()),
    once(socket, 'error').then(([error]) => (error as Error & { code: string }).code),
  ]).catch(({ code }) => code as string);
  socket.destroy();
  return agreed;
}

/** Signs in over TLS; @returns the cookie as it was set. */
async function cookieOverTls(link: string, { cert }: Certificate): Promise<string> {
  const { port, origin, hash } = new URL(link);
  const code = new URLSearchParams(hash.slice(1)).get('launch');
  const headers = { 'content-type': 'application/json', origin, host: new URL(link).host };
  const trust = { ca: cert, servername: 'elsewhere.example' };
  const sent = request({
    host: '127.0.0.1',
    port,
    path: '/api/login',
    method: 'POST',
    headers,
    ...trust,
    agent: false,
  });
  sent.end(JSON.stringify({ code }));
  const [answer] = await once(sent, 'response');
  answer.resume();
  assert.equal(answer.statusCode, 200);
  return answer.headers['set-cookie'][0];
}

function tls(): void {
  test('[BIND2] with a certificate it speaks TLS 1.2 and 1.3, and nothing else', openssl, async () => {
    await using dir = await tempDir();
    const certificate = makeCertificate(dir.path, 'elsewhere.example');
    const { cert, certFile, keyFile } = certificate;
    await using server = await serve(dir.path, '--tls-cert', certFile, '--tls-key', keyFile);
    assert.match(server.url, /^https:/);
    assert.deepEqual(await tlsVersion(server.port, 'TLSv1.3', cert), 'TLSv1.3');
    assert.deepEqual(await tlsVersion(server.port, 'TLSv1.2', cert), 'TLSv1.2');
    assert.match(`${await tlsVersion(server.port, 'TLSv1.1', cert)}`, /^ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION$/);
    assert.equal(await exchange(server.port, ['GET /healthz HTTP/1.1', `Host: 127.0.0.1:${server.port}`]), '');
    assert.match(
      await cookieOverTls(server.link, certificate),
      /^__Host-pixir=pixir_[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure$/,
    );
    const { stdout: token } = await runPixir(['token', 'create', 'phone'], environmentFor(dir.path));
    const trust = { ca: cert, servername: 'elsewhere.example' };
    const headers = { authorization: `Bearer ${token.trim()}` };
    const socket = new WebSocket(`wss://127.0.0.1:${server.port}/acp`, { ...trust, headers });
    await once(socket, 'open');
    const client = new WireClient().open({ send: (text) => socket.send(text), close: () => socket.close() });
    socket.on('message', (data) => client.receive(String(data)));
    await converses(client, dir.path);
    socket.terminate();
  });

  test(
    '[BIND2] the bridge trusts the certificate of the server that holds the data directory, and no other',
    openssl,
    async () => {
      await using dir = await tempDir();
      const { certFile, keyFile } = makeCertificate(dir.path, 'elsewhere.example');
      await using server = await serve(dir.path, '--host', '0.0.0.0', '--tls-cert', certFile, '--tls-key', keyFile);
      await using first = editor(dir.path);
      await converses(first.client, dir.path);
      // An impostor where the server says that it listens: it must not hear so much as a request.
      const other = makeCertificate(dir.path, 'impostor');
      await using impostor = createServer({ cert: other.cert, key: other.key });
      let heard = '';
      const turnsAway = new Promise<void>((resolve) => {
        let gone = 0;
        impostor.on('connection', (socket) => socket.on('close', () => ++gone === 2 && resolve()));
        impostor.on('tlsClientError', () => undefined);
        impostor.on('secureConnection', (socket) =>
          socket
            .on('error', () => undefined)
            .on('data', (data) => {
              heard += data;
              resolve();
            }),
        );
      });
      impostor.listen(0, '127.0.0.1');
      await once(impostor, 'listening');
      const file = join(dir.path, 'server.json');
      const { port } = impostor.address() as AddressInfo;
      await writeFile(file, (await readFile(file, 'utf8')).replace(String(server.port), String(port)));
      await using second = editor(dir.path);
      second.client.request('initialize', { protocolVersion: 1, clientCapabilities: {} }).catch(() => undefined);
      await turnsAway;
      assert.equal(heard, '');
      assert.equal(second.client.frames.length, 0);
    },
  );
}

function launching(): void {
  test('[SIGN7] the second line is a link that signs one browser in, as the owner', async () => {
    await using dir = await tempDir();
    await using server = await serve(dir.path);
    assert.equal(new URL(server.link).origin, server.url);
    assert.deepEqual(readdirSync(dir.path).includes('tokens'), false, 'not before somebody follows it');
    const answer = await signIn(server.link);
    assert.equal(answer.status, 200);
    const { owner, scopes } = (await answer.json()) as { owner: string; scopes: string[] };
    assert.deepEqual([owner, scopes.length], ['local', 4]);
    assert.equal((await signIn(server.link)).status, 401, 'a second time');
    const headers = { cookie: answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '', origin: server.url };
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/acp`, ['acp.v1'], { headers });
    await once(socket, 'open');
    socket.terminate();
  });

  test('[SIGN7] where it listens on every address the link and the announced address are ones that work', async () => {
    await using dir = await tempDir();
    await using server = await serve(dir.path, '--host', '::', '--behind-proxy', '::1');
    assert.equal(new URL(server.link).origin, `http://[::1]:${server.port}`);
    assert.equal((await signIn(server.link)).status, 200);
    await using bridge = editor(dir.path);
    await converses(bridge.client, dir.path);
  });

  test('[SIGN7] behind a proxy the link is the public one', async () => {
    await using dir = await tempDir();
    await using server = await serve(
      dir.path,
      '--behind-proxy',
      '127.0.0.1',
      '--public-url',
      'https://example.org/agent/',
    );
    assert.match(server.link, /^https:\/\/example\.org\/agent\/#launch=[\w-]{43}$/);
  });
}

describe('the front door', { concurrency: 4 }, () => {
  binding();
  tls();
  launching();
});
