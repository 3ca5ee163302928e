import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { exchange, startServer, statusOf, TOKEN, upgradeLines } from './support.ts';

const AUTHORIZATION = `Authorization: Bearer ${TOKEN}`;

/** Asks the same question in both ways: as a plain request for a guarded path and as an upgrade. */
async function ask(port: number, headers: readonly string[]): Promise<{ plain: number; upgrade: number }> {
  return {
    plain: statusOf(await exchange(port, ['GET /metrics HTTP/1.1', ...headers, 'Connection: close'])),
    upgrade: statusOf(await exchange(port, upgradeLines(port, headers))),
  };
}

test('[ADM1] without a credential every path but the open ones is 401, plain and as an upgrade', async (t) => {
  const server = await startServer(t);
  const host = `Host: 127.0.0.1:${server.port}`;
  for (const path of [
    '/acp',
    '/metrics',
    '/unknown',
    '/healthz/',
    '/%68ealthz',
    '//healthz',
    '/healthz;x',
    '/HEALTHZ',
  ]) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      const answer = await exchange(server.port, [`${method} ${path} HTTP/1.1`, host, 'Connection: close']);
      assert.equal(statusOf(answer), 401, `${method} ${path}`);
    }
    assert.equal(statusOf(await exchange(server.port, upgradeLines(server.port, [], path))), 401, `upgrade ${path}`);
  }
  assert.equal(server.peers.length, 0);
});

test('[ADM1] the open paths need no credential, but the right host and origin', async (t) => {
  const { port } = await startServer(t);
  const get = (path: string, ...headers: string[]) =>
    exchange(port, [`GET ${path} HTTP/1.1`, ...headers, 'Connection: close']);
  for (const path of ['/', '/healthz', '/readyz', '/healthz?probe=1']) {
    const host = `Host: localhost:${port}`;
    assert.equal(statusOf(await get(path, host)), 200, path);
    assert.equal(statusOf(await get(path, 'Host: evil.example')), 403, path);
    assert.equal(statusOf(await get(path, host, 'Origin: https://evil.example')), 403, path);
  }
});

test('[ADM2] only exact host names are accepted', async (t) => {
  const { port } = await startServer(t, { publicUrl: 'http://Pixir.example.org' });
  const good = [`127.0.0.1:${port}`, `localhost:${port}`, `LocalHost:${port}`, `[::1]:${port}`, 'pixir.example.org'];
  const bad = [
    '127.0.0.1',
    'localhost',
    `localhost:${port + 1}`,
    `localhost.:${port}`,
    `localhost.evil.example:${port}`,
    `evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    `0.0.0.0:${port}`,
    `127.1:${port}`,
    `2130706433:${port}`,
    `[0:0:0:0:0:0:0:1]:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    `localhost:${port}, evil.example`,
    `user@localhost:${port}`,
    'pixir.example.org:80',
    'www.pixir.example.org',
    '',
  ];
  for (const host of good) {
    assert.deepEqual(await ask(port, [`Host: ${host}`, AUTHORIZATION]), { plain: 200, upgrade: 101 }, host);
  }
  for (const host of bad) {
    assert.deepEqual(await ask(port, [`Host: ${host}`, AUTHORIZATION]), { plain: 403, upgrade: 403 }, host);
  }
  const forwarded = ['Host: evil.example', `X-Forwarded-Host: localhost:${port}`, AUTHORIZATION];
  assert.deepEqual(await ask(port, forwarded), { plain: 403, upgrade: 403 });
});

test('[ADM2] a missing, repeated or absolute-form host is refused', async (t) => {
  const { port } = await startServer(t);
  const host = `Host: localhost:${port}`;
  const lines = upgradeLines(port, [host, AUTHORIZATION]);
  const cases: Record<string, string[]> = {
    'no Host': ['GET /healthz HTTP/1.1', 'Connection: close'],
    'no Host, HTTP/1.0': ['GET /healthz HTTP/1.0'],
    'no Host, upgrade': lines.filter((line) => line !== host),
    'Host twice, same': ['GET /healthz HTTP/1.1', host, host, 'Connection: close'],
    'Host twice, evil second': ['GET /healthz HTTP/1.1', host, 'Host: evil.example', 'Connection: close'],
    'Host twice, upgrade': [...lines, 'Host: evil.example'],
    'absolute form': [`GET http://localhost:${port}/healthz HTTP/1.1`, host, 'Connection: close'],
    'absolute form, upgrade': upgradeLines(port, [host, AUTHORIZATION], `http://localhost:${port}/acp`),
    'asterisk form': ['OPTIONS * HTTP/1.1', host, 'Connection: close'],
  };
  for (const [name, request] of Object.entries(cases)) {
    assert.equal(statusOf(await exchange(port, request)), 403, name);
  }
});

test('[ADM2] the name the server was told to listen on is a good host with its port, unless it means every address', async (t) => {
  const { port } = await startServer(t, { listenHost: 'Box.lan' });
  assert.deepEqual(await ask(port, [`Host: box.lan:${port}`, AUTHORIZATION]), { plain: 200, upgrade: 101 });
  assert.deepEqual(await ask(port, ['Host: box.lan', AUTHORIZATION]), { plain: 403, upgrade: 403 });
  for (const [listenHost, host] of Object.entries({ '::1': '::1', '::': '[::]', '0.0.0.0': '0.0.0.0' })) {
    const server = await startServer(t, { listenHost });
    assert.equal((await ask(server.port, [`Host: ${host}:${server.port}`, AUTHORIZATION])).plain, 403, host);
  }
});

test('[ADM2] the address a connection came in on is a good host, whatever the server listens on', async (t) => {
  const outside = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const address = outside.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.2';
  for (const everywhere of ['0.0.0.0', '::']) {
    const { port } = await startServer(t, {}, everywhere);
    const ready = (host: string) =>
      exchange(port, ['GET /readyz HTTP/1.1', `Host: ${host}:${port}`, 'Connection: close'], address);
    assert.equal(statusOf(await ready(address)), 200);
    assert.equal(statusOf(await ready('0.0.0.0')), 403);
    assert.equal(statusOf(await ready('127.0.0.3')), 403);
  }
});

test('[ADM3] an origin must be the own or a listed one, exactly; none is fine', async (t) => {
  const { port } = await startServer(t, { allowedOrigins: ['https://app.example.org'] });
  const request = (origin: string) => [`Host: localhost:${port}`, `Origin: ${origin}`, AUTHORIZATION];
  assert.deepEqual(await ask(port, request(`http://localhost:${port}`)), { plain: 200, upgrade: 101 });
  // A listed page may connect; what is not shared with it is none of its business.
  assert.deepEqual(await ask(port, request('https://app.example.org')), { plain: 403, upgrade: 101 });
  const bad = [
    'null',
    '',
    'file://',
    'https://evil.example',
    'http://localhost',
    `https://localhost:${port}`,
    `http://localhost:${port + 1}`,
    `http://127.0.0.1:${port}`,
    `http://localhost.:${port}`,
    `http://localhost.evil.example:${port}`,
    `http://localhost:${port}.evil.example`,
    `http://localhost:${port}/`,
    `HTTP://LOCALHOST:${port}`,
    'http://app.example.org',
    'https://app.example.org:443',
    'https://app.example.org.evil.example',
  ];
  for (const origin of bad) {
    assert.deepEqual(await ask(port, request(origin)), { plain: 403, upgrade: 403 }, origin);
  }
  const twice = [...request('https://app.example.org'), 'Origin: https://evil.example'];
  assert.deepEqual(await ask(port, twice), { plain: 403, upgrade: 403 });
});

test('[ADM3] a good origin does not replace the credential', async (t) => {
  const { port } = await startServer(t);
  const headers = [`Host: localhost:${port}`, `Origin: http://localhost:${port}`];
  assert.deepEqual(await ask(port, headers), { plain: 401, upgrade: 401 });
});

test('[ADM4] only a bearer token in Authorization, sent once, is a credential', async (t) => {
  const { port } = await startServer(t);
  const host = `Host: localhost:${port}`;
  const good = [AUTHORIZATION, `authorization: bearer ${TOKEN}`, `Authorization: Bearer   ${TOKEN}`];
  for (const header of good) assert.deepEqual(await ask(port, [host, header]), { plain: 200, upgrade: 101 }, header);
  const bad = [
    [`Authorization: Bearer ${TOKEN}x`],
    [`Authorization: Bearer ${TOKEN.slice(0, -1)}`],
    [`Authorization: Bearer ${TOKEN} x`],
    [`Authorization: Bearer ${TOKEN.toUpperCase()}`],
    ['Authorization: Bearer'],
    ['Authorization: Bearer '],
    [`Authorization: ${TOKEN}`],
    [`Authorization: Basic ${Buffer.from(`ada:${TOKEN}`).toString('base64')}`],
    [AUTHORIZATION, AUTHORIZATION],
    [AUTHORIZATION, 'Authorization: Bearer other'],
    [`Cookie: token=${TOKEN}`],
    [`Sec-WebSocket-Protocol: ${TOKEN}`],
    [`X-Authorization: Bearer ${TOKEN}`],
  ];
  for (const headers of bad) {
    assert.deepEqual(await ask(port, [host, ...headers]), { plain: 401, upgrade: 401 }, headers.join(', '));
  }
  assert.equal(statusOf(await exchange(port, upgradeLines(port, [], `/acp?token=${TOKEN}`))), 401);
  assert.match(await exchange(port, upgradeLines(port, [])), /^www-authenticate: Bearer\r$/im);
});

test('[ADM5] a credential appears in no answer and in no log line, wherever it was sent', async (t) => {
  const server = await startServer(t);
  const { port } = server;
  const wrong = 'canary-wrong-credential';
  const answers: string[] = [];
  for (const secret of [TOKEN, wrong]) {
    const headers = [`Host: localhost:${port}`, `Authorization: Bearer ${secret}`, `Sec-WebSocket-Protocol: ${secret}`];
    for (const path of ['/acp', `/acp?token=${secret}`, `/nowhere?token=${secret}`]) {
      answers.push(await exchange(port, upgradeLines(port, headers, path)));
      answers.push(await exchange(port, [`GET ${path} HTTP/1.1`, ...headers, 'Connection: close']));
    }
  }
  await server.close();
  for (const text of [...answers, server.log()]) {
    assert.ok(!text.includes(TOKEN) && !text.includes(wrong), text);
  }
  assert.match(server.log(), /"reason":"credential"/);
});

test('[ADM5] refusals say nothing but their status', async (t) => {
  const { port } = await startServer(t);
  const bodies = new Set<string>();
  for (const header of ['Host: evil.example', `Host: localhost:${port}\r\nOrigin: https://evil.example`]) {
    for (const path of ['/acp', '/unknown']) {
      const answer = await exchange(port, [`GET ${path} HTTP/1.1`, header, 'Connection: close']);
      bodies.add(answer.slice(answer.indexOf('\r\n\r\n')).trim());
      const upgrade = await exchange(port, upgradeLines(port, [header], path));
      bodies.add(upgrade.slice(upgrade.indexOf('\r\n\r\n')).trim());
    }
  }
  assert.deepEqual([...bodies], ['{"error":"forbidden"}']);
});

test('[ADM6] an upgrade is answered 101 at /acp only; elsewhere it is 404', async (t) => {
  const { port, peers } = await startServer(t);
  for (const path of ['/', '/healthz', '/metrics', '/unknown', '/acp/', '/acp/x', '/ACP', '/%61cp']) {
    const answer = await exchange(port, upgradeLines(port, [AUTHORIZATION], path));
    assert.equal(statusOf(answer), 404, path);
  }
  assert.equal(peers.length, 0);
  assert.equal(statusOf(await exchange(port, upgradeLines(port, [AUTHORIZATION], '/acp?x=1'))), 101);
});

test('[ADM6] a malformed handshake is refused without a 101', async (t) => {
  const { port, peers } = await startServer(t);
  const lines = upgradeLines(port, [AUTHORIZATION]);
  const without = (name: string) => lines.filter((line) => !line.startsWith(name));
  assert.equal(statusOf(await exchange(port, without('Sec-WebSocket-Key'))), 400);
  assert.equal(statusOf(await exchange(port, [...without('Sec-WebSocket-Version'), 'Sec-WebSocket-Version: 7'])), 400);
  assert.equal(statusOf(await exchange(port, ['POST /acp HTTP/1.1', ...lines.slice(1)])), 405);
  assert.equal(peers.length, 0);
});
