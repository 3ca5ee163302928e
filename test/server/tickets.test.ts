import assert from 'node:assert/strict';
import { test } from 'node:test';
import { revokeToken } from '../../src/cli/tokens.ts';
import { APP, knock, OWN, stage } from './sign-in-support.ts';

test('[TICKET1] a ticket opens one connection, within a minute, for who asked and from where it was asked', async (t) => {
  const { post, named, server, pass } = await stage(t);
  const bearer = { authorization: `Bearer ${named('page', { scopes: ['observe'] })}` };
  const ticket = async (headers: Record<string, string> = { origin: APP }) => {
    const answer = await post('/api/tickets', {}, { ...bearer, ...headers });
    assert.equal(answer.status, 200);
    const { ticket: made, expiresInMs } = (await answer.json()) as { ticket: string; expiresInMs: number };
    assert.equal(expiresInMs, 60_000);
    assert.match(made, /^[\w-]{43}$/);
    return made;
  };
  const use = (code: string, origin?: string, more: string[] = []) =>
    knock(server.url, origin === undefined ? {} : { origin }, ['acp.v1', `pixir.ticket.${code}`, ...more]);

  const first = await ticket();
  assert.equal(await use(first, APP), 101);
  assert.deepEqual(server.peers.at(-1)?.principal, {
    name: 'page',
    owner: 'ada',
    scopes: ['observe'],
    workspaces: null,
  });
  assert.equal(await use(first, APP), 401, 'a second time');
  assert.equal(await use(await ticket(), `http://127.0.0.1:${server.port}`), 401, 'from another page');
  assert.equal(await use(await ticket()), 401, 'from no page');
  assert.equal(await use(await ticket({}), undefined), 101, 'asked for by no page, used by none');
  assert.equal(await use(await ticket(), APP, [`pixir.ticket.${await ticket()}`]), 401, 'two of them');
  const old = await ticket();
  pass(60);
  assert.equal(await use(old, APP), 401, 'too late');
});

test('[TICKET1] a ticket ends with the credential that bought it, and tickets are not hoarded', async (t) => {
  const { post, named, server, dataDir, pass } = await stage(t);
  const authorization = `Bearer ${named('page')}`;
  const buy = () => post('/api/tickets', {}, { authorization });
  const { ticket } = (await (await buy()).json()) as { ticket: string };
  revokeToken(dataDir, 'page');
  assert.equal(await knock(server.url, {}, ['acp.v1', `pixir.ticket.${ticket}`]), 401);
  const own = { authorization: `Bearer ${OWN}` };
  const statuses = new Set<number>();
  for (let n = 0; n < 1001; n++) statuses.add((await post('/api/tickets', {}, own)).status);
  assert.deepEqual([...statuses], [200, 429]);
  pass(60);
  assert.equal((await post('/api/tickets', {}, own)).status, 200);
});

test('[TICKET2] only pages on the list may ask for one, and the browser is told so', async (t) => {
  const { server } = await stage(t);
  const preflight = (origin: string, path: string, method: string) =>
    fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': 'authorization' },
    });
  const answer = await preflight(APP, '/api/tickets', 'POST');
  assert.equal(answer.status, 204);
  assert.equal(answer.headers.get('access-control-allow-origin'), APP);
  assert.equal(answer.headers.get('access-control-allow-methods'), 'POST');
  assert.equal(answer.headers.get('access-control-allow-headers'), 'authorization, content-type');
  assert.equal(answer.headers.get('access-control-allow-credentials'), null);
  for (const [origin, path, method] of [
    ['https://evil.example', '/api/tickets', 'POST'],
    ['null', '/api/tickets', 'POST'],
    [APP, '/api/tickets', 'DELETE'],
    [APP, '/api/login', 'POST'],
    [APP, '/api/logout', 'POST'],
    [APP, '/metrics', 'GET'],
    [APP, '/acp', 'GET'],
  ] as const) {
    const refused = await preflight(origin, path, method);
    assert.equal(refused.status, 403, `${origin} ${path}`);
    assert.equal(refused.headers.get('access-control-allow-origin'), null);
  }
  const unknown = await fetch(`http://127.0.0.1:${server.port}/api/tickets`, {
    method: 'POST',
    headers: { origin: APP },
  });
  assert.deepEqual([unknown.status, unknown.headers.get('access-control-allow-origin')], [401, APP]);
});
