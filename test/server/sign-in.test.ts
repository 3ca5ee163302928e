import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { createAuthenticator } from '../../src/cli/authenticator.ts';
import { secret } from '../../src/cli/secret.ts';
import { readTokens, revokeToken } from '../../src/cli/tokens.ts';
import { APP_LIMITS } from '../support/app-limits.ts';
import { APP, cookieFrom, knock, OWN, stage } from './sign-in-support.ts';
import { exchange, manualClock, statusOf } from './support.ts';

test('[SIGN1] a launch code is traded once for a cookie that no script reads and no other site sends', async (t) => {
  const { login, launchCodes, origin, server } = await stage(t);
  const code = launchCodes.issue('launch');
  const answer = await login({ code });
  assert.equal(answer.status, 200);
  assert.match(
    answer.headers.get('set-cookie') ?? '',
    new RegExp(`^pixir_${server.port}=pixir_[\\w-]{43}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict$`),
  );
  const { name, ...rest } = (await answer.json()) as { name: string };
  assert.match(name, /^browser-[0-9a-f]{8}$/);
  assert.deepEqual(rest, { owner: 'local', scopes: ['observe', 'prompt', 'approve', 'admin'] });
  assert.equal((await login({ code })).status, 401, 'a second time');
  assert.equal(await knock(server.url, { cookie: cookieFrom(answer), origin }), 101);
  assert.equal((await server.peer()).principal.name, name);
});

test('[SIGN1] a launch code is good for a minute, and there is one', async (t) => {
  const { login, launchCodes, pass } = await stage(t);
  const code = launchCodes.issue('launch');
  assert.equal(launchCodes.issue('launch'), undefined);
  pass(60);
  assert.equal((await login({ code })).status, 401);
  const next = launchCodes.issue('launch');
  pass(59);
  assert.equal((await login({ code: next })).status, 200);
});

test('[SIGN2] a token is traded for a cookie that is good for the same, and not for longer', async (t) => {
  const { login, named, origin, server, clock, pass } = await stage(t);
  const phone = named('phone', { expiresAt: new Date(clock.now() + 3_600_000).toISOString() });
  const answer = await login({ token: phone });
  const { name, ...rest } = (await answer.json()) as { name: string };
  assert.deepEqual(rest, { owner: 'ada', scopes: ['observe'] });
  assert.match(answer.headers.get('set-cookie') ?? '', /Max-Age=3600;/);
  const cookie = cookieFrom(answer);
  assert.equal(await knock(server.url, { cookie, origin }), 101);
  pass(3600);
  assert.equal(await knock(server.url, { cookie, origin }), 401);
  assert.equal((await login({ token: OWN })).status, 200);
  // What a browser carries buys no further browser.
  const [, value = ''] = cookieFrom(await login({ token: named('tablet') })).split('=');
  assert.equal((await login({ token: value })).status, 401);
});

test('[SIGN2] a browser is signed out with the token it signed in by: revoked, replaced or expired', async (t) => {
  const { dataDir, login, named, origin, server, pass } = await stage(t);
  const cookie = cookieFrom(await login({ token: named('phone') }));
  const kept = cookieFrom(await login({ token: OWN }));
  const connect = async (value: string) => {
    const client = new WebSocket(server.url, ['acp.v1'], { headers: { cookie: value, origin } });
    t.after(() => client.terminate());
    await once(client, 'open');
    return client;
  };
  const [lost] = [await connect(cookie), await connect(kept)];
  revokeToken(dataDir, 'phone');
  const closed = once(lost, 'close');
  pass(5);
  assert.equal((await closed)[0], 4401);
  assert.equal(await knock(server.url, { cookie, origin }), 401);
  named('phone');
  assert.equal(await knock(server.url, { cookie, origin }), 401, 'another token of that name');
  assert.equal(await knock(server.url, { cookie: kept, origin }), 101);
  const replaced = createAuthenticator({
    dataDir,
    token: secret('a new one'),
    clock: manualClock(),
    onError: (error) => assert.fail(error),
  });
  assert.equal(replaced.authenticate(kept.split('=')[1] ?? ''), undefined);
});

test('[SIGN3] the cookie counts with the exact own origin, or where the browser vouches for a read, and nowhere else', async (t) => {
  const { login, origin, server } = await stage(t);
  const cookie = cookieFrom(await login({ token: OWN }));
  const foreign = [`http://localhost:${server.port}`, `http://127.0.0.1:${server.port + 1}`, 'null', APP, `${origin}/`];
  assert.equal(await knock(server.url, { cookie, origin }), 101);
  for (const other of foreign) assert.notEqual(await knock(server.url, { cookie, origin: other }), 101, other);
  assert.equal(await knock(server.url, { cookie }), 401, 'no origin');
  assert.equal(
    await knock(server.url, { cookie, 'sec-fetch-site': 'same-origin' }),
    401,
    'a WebSocket names its origin',
  );
  const read = async (...lines: string[]) => {
    const head = ['GET /metrics HTTP/1.1', `Host: 127.0.0.1:${server.port}`, 'Connection: close'];
    return statusOf(await exchange(server.port, [...head, ...lines]));
  };
  assert.equal(await read(`Cookie: ${cookie}`), 401);
  assert.equal(await read(`Cookie: ${cookie}`, 'Sec-Fetch-Site: same-origin'), 200);
  for (const site of ['same-site', 'cross-site', 'none', 'same-origin, same-origin'])
    assert.equal(await read(`Cookie: ${cookie}`, `Sec-Fetch-Site: ${site}`), 401, site);
  assert.equal(await read(`Cookie: ${cookie}; ${cookie}x`, 'Sec-Fetch-Site: same-origin'), 401, 'two of one name');
  assert.equal(await read(`Cookie: x${cookie}`, 'Sec-Fetch-Site: same-origin'), 401, 'another name');
});

test('[SIGN3] a wrong bearer token is not made good by a cookie', async (t) => {
  const { login, origin, server } = await stage(t);
  const cookie = cookieFrom(await login({ token: OWN }));
  assert.equal(await knock(server.url, { cookie, origin, authorization: 'Bearer wrong' }), 401);
});

test('[SIGN4] signing out revokes what the browser carries, and ends its connections', async (t) => {
  const { dataDir, login, post, origin, server, pass } = await stage(t);
  const cookie = cookieFrom(await login({ token: OWN }));
  const client = new WebSocket(server.url, ['acp.v1'], { headers: { cookie, origin } });
  t.after(() => client.terminate());
  await once(client, 'open');
  assert.equal((await post('/api/logout', {}, { cookie })).status, 401, 'without its origin');
  assert.equal((await post('/api/logout', {}, { cookie, origin: APP })).status, 403);
  const answer = await post('/api/logout', {}, { cookie, origin });
  assert.equal(answer.status, 204);
  assert.match(answer.headers.get('set-cookie') ?? '', /^pixir_\d+=; Path=\/; Max-Age=0;/);
  assert.deepEqual(readdirSync(join(dataDir, 'tokens')), []);
  const closed = once(client, 'close');
  pass(5);
  assert.equal((await closed)[0], 4401);
  // A token in a header is not the browser's to revoke.
  assert.equal((await post('/api/logout', {}, { authorization: `Bearer ${OWN}` })).status, 204);
});

test('[SIGN4] a browser that sends no Origin with its own page signs out as well, and no other page signs it out', async (t) => {
  const { login, post, server } = await stage(t);
  const cookie = cookieFrom(await login({ token: OWN }));
  // As Chromium does for a page without a referrer.
  for (const site of ['same-site', 'cross-site', 'none'])
    assert.equal((await post('/api/logout', {}, { cookie, 'sec-fetch-site': site })).status, 401, site);
  assert.equal((await post('/api/logout', {}, { cookie, 'sec-fetch-site': 'same-origin' })).status, 204);
  assert.equal(await knock(server.url, { cookie, origin: `http://127.0.0.1:${server.port}` }), 401);
});

test('[SIGN4] browser tokens whose time has passed are cleared away, named ones stay', async (t) => {
  const { dataDir, login, named, pass, clock } = await stage(t);
  named('old', { expiresAt: new Date(clock.now() + 1000).toISOString() });
  const short = named('short', { expiresAt: new Date(clock.now() + 60_000).toISOString() });
  await login({ token: short });
  pass(61);
  await login({ token: OWN });
  const names = readTokens(dataDir, (error) => assert.fail(error)).map(({ name }) => name.replace(/-.*/, ''));
  assert.deepEqual(names, ['browser', 'old', 'short']);
});

test('[SIGN5] nobody else signs in: other origins, other content types, other bodies', async (t) => {
  const { post, login, server, dataDir } = await stage(t);
  for (const origin of [APP, 'null', 'https://evil.example', `http://localhost:${server.port}`])
    assert.equal((await post('/api/login', { token: OWN }, { origin })).status, 403, origin);
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    'application/json\t',
    'application/jsonx',
    'x/application/json',
    'multipart/form-data; boundary=x',
  ]) {
    const answer = await post('/api/login', { token: OWN }, { 'content-type': type });
    // A tab at the end is no part of the value: HTTP takes it off.
    assert.equal(answer.status, type.trim() === 'application/json' ? 200 : 415, type);
  }
  for (const body of [
    null,
    1,
    'x',
    [],
    {},
    { token: 1 },
    { token: OWN, code: 'x' },
    { token: OWN, more: 1 },
    { code: {} },
  ])
    assert.equal((await login(body)).status, 400, JSON.stringify(body));
  assert.equal((await login({ token: 'x'.repeat(100_000) })).status, 413);
  const polluted = await fetch(`http://127.0.0.1:${server.port}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"__proto__":{"token":"${OWN}"},"token":"${OWN}"}`,
  });
  assert.equal(polluted.status, 400);
  assert.equal(readdirSync(join(dataDir, 'tokens')).length, 1);
});

test('[SIGN6] wrong attempts beyond the limits of a minute are 429, and right ones still pass', async (t) => {
  const limits = { ...APP_LIMITS, maxSignInFailuresPerMinute: 2, maxWrongCredentialsPerMinute: 4 };
  const { login, server, pass, launchCodes } = await stage(t, { limits });
  const wrong = (token: string) => knock(server.url, { authorization: `Bearer ${token}` });
  const seen: [number, number][] = [];
  for (let n = 0; n < 5; n++) seen.push([await wrong('wrong'), (await login({ token: 'wrong' })).status]);
  assert.deepEqual(seen, [
    [401, 401],
    [401, 401],
    [401, 429],
    [401, 429],
    [429, 429],
  ]);
  assert.equal((await login({ code: 'wrong' })).status, 429);
  assert.equal(await knock(server.url, {}), 401, 'nothing is no attempt');
  assert.equal(await wrong(OWN), 101);
  assert.equal((await login({ code: launchCodes.issue('launch') })).status, 200);
  pass(60);
  assert.equal(await wrong('wrong'), 401);
});

test('[ADM5] launch codes, cookies and tickets appear in no log line and in no file', async (t) => {
  const { login, post, launchCodes, server, origin, dataDir } = await stage(t);
  const code = launchCodes.issue('launch') ?? '';
  const cookie = cookieFrom(await login({ code }));
  const bought = await post('/api/tickets', {}, { cookie, origin });
  const { ticket } = (await bought.json()) as { ticket: string };
  const protocol = `pixir.ticket.${ticket}`;
  const socket = new WebSocket(server.url, ['acp.v1', protocol], { headers: { origin } });
  t.after(() => socket.terminate());
  const [response] = await once(socket, 'upgrade');
  assert.equal(socket.protocol, 'acp.v1');
  const token = cookie.split('=')[1] ?? '';
  for (const canary of [code, token, ticket]) {
    assert.ok(canary.length >= 43);
    await fetch(`${origin}/${canary}?${canary}`, {
      headers: { authorization: `Bearer ${canary}x`, 'x-canary': canary },
    });
    await login({ token: `${canary}x` });
    assert.ok(
      !server.log().includes(canary.replace(/^pixir_/, '')) || canary === ticket || canary === code,
      server.log(),
    );
    for (const file of readdirSync(join(dataDir, 'tokens')))
      assert.ok(!readFileSync(join(dataDir, 'tokens', file), 'utf8').includes(canary));
    assert.ok(!JSON.stringify(response.headers).includes(canary));
  }
});
