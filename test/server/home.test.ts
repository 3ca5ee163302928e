/** Proxies in front of the server: whose connections count, whose word on addresses counts, and what a browser is told. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type TestContext, test } from 'node:test';
import { createHomes } from '../../src/server/home.ts';
import { APP_LIMITS } from '../support/app-limits.ts';
import { cookieFrom, OWN, stage } from './sign-in-support.ts';
import { exchange, startServer, statusOf, TOKEN, upgradeLines } from './support.ts';

const PUBLIC = 'https://example.org/agent';
/** All of 127.0.0.0/8 is this machine: a socket may come from any of it. */
const PROXY = '127.0.0.5';
const CLIENT = '127.0.0.6';

/** Sends a request from an address of this machine. */
async function ask(
  port: number,
  options: {
    path?: string;
    method?: string;
    headers?: Record<string, string>;
    from?: string;
    to?: string;
    body?: object;
  },
) {
  const { path = '/', method = 'GET', headers = {}, from = CLIENT, to = '127.0.0.1', body } = options;
  const type = body ? { 'content-type': 'application/json' } : {};
  const sent = request({
    port,
    path,
    method,
    host: to,
    localAddress: from,
    headers: { ...type, ...headers },
    agent: false,
  });
  sent.end(body && JSON.stringify(body));
  const [answer] = await once(sent, 'response');
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  return { status: answer.statusCode as number, text, cookie: answer.headers['set-cookie']?.[0] as string | undefined };
}

/** A server that says where it thinks a request came from. */
async function echoAddress(t: TestContext, proxies: string[], listen = '127.0.0.1') {
  const homes = createHomes({ listenHost: listen, secure: false, publicUrl: undefined, proxies });
  const server = createServer((incoming, answer) => answer.end(homes.clientAddress(incoming))).listen(0, listen);
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return async (from: string, forwarded?: string, to?: string) => {
    const headers: Record<string, string> = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    return (await ask(port, { from, headers, ...(to ? { to } : {}) })).text;
  };
}

/** The server's address on a network, or one of its others where it is on none. */
function outside(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
}

test('[PROXY1] behind a proxy only its addresses and loopback are served, plain and as an upgrade', async (t) => {
  const own = outside();
  if (own === undefined) return t.skip('no network');
  for (const everywhere of ['0.0.0.0', '::']) {
    for (const [proxies, expected] of [
      [['10.9.9.9'], 403],
      [['10.9.9.9', 'fd00::/8', own], 200],
      [[`${own}/32`], 200],
    ] as const) {
      const { port } = await startServer(t, { proxies }, everywhere);
      const headers: string[] = [`Host: ${own}:${port}`, `Authorization: Bearer ${TOKEN}`];
      const get = (address: string) =>
        exchange(port, ['GET /readyz HTTP/1.1', ...headers, 'Connection: close'], address);
      assert.equal(statusOf(await get(own)), expected, `${proxies} at ${everywhere}`);
      const forged = ['X-Forwarded-For: 127.0.0.1', 'Forwarded: for=127.0.0.1'];
      const upgrade = await exchange(port, upgradeLines(port, [...headers, ...forged]), own);
      assert.equal(statusOf(upgrade), expected === 200 ? 101 : 403);
      const local = ['GET /readyz HTTP/1.1', `Host: localhost:${port}`, 'Connection: close'];
      assert.equal(statusOf(await exchange(port, local)), 200, 'the health check of this machine');
    }
  }
});

test('[PROXY1] what a proxy says of an address is believed, what anybody else says is not', async (t) => {
  const address = await echoAddress(t, [PROXY, '10.0.0.0/8', 'fd00::/8']);
  const beyond = '203.0.113.7';
  for (const [forwarded, expected] of [
    [undefined, PROXY],
    [beyond, beyond],
    [` ${beyond} `, beyond],
    // A client wrote the first, the proxy the second.
    [`1.2.3.4, ${beyond}`, beyond],
    [`127.0.0.1,${beyond}`, beyond],
    // Two proxies of ours: the nearer names the further one, that names the client.
    [`1.2.3.4, ${beyond}, 10.1.2.3`, beyond],
    [`${beyond}, 10.1.2.3, fd00::1`, beyond],
    ['2001:db8::1', '2001:db8::1'],
    [`2001:db8::1, ::ffff:${beyond}`, beyond],
    [`${beyond}, ::ffff:10.1.2.3`, beyond],
    // Nothing but proxies: it came from the nearest.
    ['10.1.2.3', PROXY],
    // What is no address is not taken for one, nor what stands before it.
    ['', PROXY],
    ['unknown', PROXY],
    [`${beyond}, unknown`, PROXY],
    [`${beyond},`, PROXY],
    [`${beyond}:4711`, PROXY],
    ['[2001:db8::1]', PROXY],
    ['203.0.113.07', PROXY],
    ['<script>', PROXY],
    [','.repeat(5_000), PROXY],
  ] as const) {
    assert.equal(await address(PROXY, forwarded), expected, `${forwarded}`.slice(0, 60));
    assert.equal(await address(CLIENT, forwarded), CLIENT, 'a client is no proxy, also of this machine');
  }
});

test('[PROXY1] an IPv4 proxy is known on an IPv6 socket, and an IPv6 one', async (t) => {
  const address = await echoAddress(t, [PROXY, '::1'], '::');
  assert.equal(await address(PROXY, '203.0.113.7'), '203.0.113.7');
  assert.equal(await address(CLIENT, '203.0.113.7'), CLIENT);
  assert.equal(await address('::1', '203.0.113.7', '::1'), '203.0.113.7');
  const nobody = await echoAddress(t, []);
  assert.equal(await nobody('127.0.0.1', '203.0.113.7'), '127.0.0.1', 'without a proxy nobody is believed');
});

test('[PROXY1] wrong credentials are counted, and logged, by the address that the proxy names', async (t) => {
  const limits = { ...APP_LIMITS, maxSignInFailuresPerMinute: 1, maxWrongCredentialsPerMinute: 1 };
  const { server } = await stage(t, { limits, proxies: [PROXY], publicUrl: PUBLIC });
  const wrong = async (from: string, forwarded: string, path = '/metrics') => {
    const headers = { host: 'example.org', authorization: 'Bearer wrong', 'x-forwarded-for': forwarded };
    const login = { method: 'POST', body: { token: 'wrong' } };
    return (await ask(server.port, { from, headers, path, ...(path === '/api/login' && login) })).status;
  };
  assert.equal(await wrong(PROXY, '203.0.113.1'), 401);
  assert.equal(await wrong(PROXY, '198.51.100.9, 203.0.113.1'), 429, 'a made-up entry is no other client');
  assert.equal(await wrong(PROXY, '203.0.113.2'), 401, 'another client of the same proxy');
  for (const status of [401, 429]) assert.equal(await wrong(PROXY, '203.0.113.1', '/api/login'), status);
  assert.equal(await wrong(PROXY, '203.0.113.2', '/api/login'), 401);
  assert.equal(await wrong(CLIENT, '203.0.113.3'), 401);
  assert.equal(await wrong(CLIENT, '203.0.113.4'), 429, 'not a proxy');
  assert.match(server.log(), /"remoteAddress":"203\.0\.113\.1"/);
  assert.match(server.log(), new RegExp(`"remoteAddress":"${CLIENT}"`));
  assert.ok(!/203\.0\.113\.[34]|198\.51/.test(server.log()));
});

test('[PROXY1] who connected is logged by the address that the proxy names', async (t) => {
  const server = await startServer(t, { proxies: [PROXY] });
  const lines = upgradeLines(server.port, [`Authorization: Bearer ${TOKEN}`, 'X-Forwarded-For: 203.0.113.7']);
  await exchange(server.port, lines);
  assert.doesNotMatch(server.log(), /203/, 'from nobody in particular');
  const trusting = await startServer(t, { proxies: ['127.0.0.1'] });
  await exchange(trusting.port, upgradeLines(trusting.port, lines.slice(2, 4)));
  await trusting.peer();
  assert.match(trusting.log(), /client connected .*"remoteAddress":"203\.0\.113\.7"/);
});

test('[PROXY2] the public name is a good host, its origin the own one, and the cookie is of its path', async (t) => {
  for (const [publicUrl, host, start] of [
    [
      'https://example.org/agent',
      'example.org',
      /^__Secure-pixir=pixir_[\w-]{43}; Path=\/agent\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
    ],
    [
      'https://example.org:8443',
      'example.org:8443',
      /^__Host-pixir=pixir_[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
    ],
    [
      'http://box.lan/agent',
      'box.lan',
      /^pixir_\d+=pixir_[\w-]{43}; Path=\/agent\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
    ],
  ] as const) {
    const { server } = await stage(t, { publicUrl, proxies: [PROXY] });
    const { origin } = new URL(publicUrl);
    const login = (headers: Record<string, string>) =>
      ask(server.port, { path: '/api/login', method: 'POST', body: { token: OWN }, headers });
    const { status, cookie = '' } = await login({ host, origin });
    assert.equal(status, 200, publicUrl);
    assert.match(cookie, start);
    const other = host.includes(':') ? 'example.org' : `${host}:8443`;
    for (const headers of [
      { host, origin: `http://127.0.0.1:${server.port}` },
      { host, origin: `${origin}.evil.example` },
      { host, origin: origin.startsWith('https') ? origin.replace('https', 'http') : origin.replace('http', 'https') },
      { host: other, origin },
      { host: `localhost:${server.port}`, origin },
    ])
      assert.equal((await login(headers)).status, 403, JSON.stringify(headers));

    const carried = cookie.split(';', 1)[0] ?? '';
    const connect = async (value: string, from: { host: string; origin: string }) => {
      const headers = [`Host: ${from.host}`, `Origin: ${from.origin}`, `Cookie: ${value}`];
      return statusOf(await exchange(server.port, upgradeLines(server.port, headers)));
    };
    assert.equal(await connect(carried, { host, origin }), 101, 'read back by the name it was given');
    // A page of the machine itself has another cookie: what is for TLS only does not count there, nor the other way round.
    const local = { host: `localhost:${server.port}`, origin: `http://localhost:${server.port}` };
    if (origin.startsWith('https:')) assert.equal(await connect(carried, local), 401);
    const [, value] = carried.split('=');
    if (origin.startsWith('https:'))
      assert.equal(await connect(`pixir_${server.port}=${value}`, { host, origin }), 401);
    const signedOut = await ask(server.port, {
      path: '/api/logout',
      method: 'POST',
      headers: { host, origin, cookie: carried },
    });
    const [, ...flags] = cookie.split('; ');
    assert.equal(signedOut.status, 204);
    assert.equal(
      signedOut.cookie,
      [`${carried.split('=')[0]}=`, ...flags].join('; ').replace(/Max-Age=\d+/, 'Max-Age=0'),
    );
  }
});

test('[PROXY2] without TLS the cookie is named after the port, and neither says Secure nor has a prefix', async (t) => {
  const { server, login } = await stage(t);
  const answer = await login({ token: OWN });
  assert.match(cookieFrom(answer), new RegExp(`^pixir_${server.port}=`));
  assert.ok(!answer.headers.get('set-cookie')?.includes('Secure'));
});
