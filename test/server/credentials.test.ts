import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { WebSocket } from 'ws';
import { createAuthenticator } from '../../src/cli/authenticator.ts';
import { secret } from '../../src/cli/secret.ts';
import { createToken, revokeToken } from '../../src/cli/tokens.ts';
import { connectDeaf, exchange, manualClock, startServer, statusOf, upgradeLines } from './support.ts';

const OWN = 'the-own-token-of-the-server';
const createdAt = new Date(0).toISOString();

/** A server with named tokens, and a clock that moves when it is told to. */
async function stage(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), 'pixir-test-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  const clock = manualClock();
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const { authenticate } = createAuthenticator({ dataDir, token: secret(OWN), clock, onError });
  const server = await startServer(t, { clock, authenticate });
  const create = (name: string, expiresInMs?: number) => {
    const expiresAt = expiresInMs === undefined ? null : new Date(clock.now() + expiresInMs).toISOString();
    const grant = { owner: 'local', scopes: ['observe' as const], workspaces: null, createdAt, expiresAt, via: null };
    return createToken(dataDir, name, grant).reveal();
  };
  const connectAs = (token: string) => server.connect({ authorization: `Bearer ${token}` });
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) clock.advance(1000);
  };
  return { dataDir, clock, errors, server, create, connectAs, pass };
}

async function roundTrip(client: WebSocket, text: string): Promise<void> {
  const answered = once(client, 'message');
  client.send(text);
  assert.equal(String((await answered)[0]), text);
}

const closeCode = async (client: WebSocket) => (await once(client, 'close'))[0];

test('[ADM7] a revoked token: its connections are closed with 4401 within 5 s, no others, and it opens none', async (t) => {
  const { dataDir, clock, server, create, connectAs, pass } = await stage(t);
  const [lost, kept] = [create('lost'), create('kept')];
  const clients = [await connectAs(lost), await connectAs(lost), await connectAs(kept), await connectAs(OWN)];
  for (const index of clients.keys()) await server.peer(index);
  pass(10);
  for (const client of clients) await roundTrip(client, 'still welcome');
  const codes = Promise.all(clients.slice(0, 2).map(closeCode));
  revokeToken(dataDir, 'lost');
  pass(5);
  clients[0]?.send('one more thing');
  assert.deepEqual(await codes, [4401, 4401]);
  await Promise.all(server.peers.slice(0, 2).map(({ ended }) => ended));
  assert.deepEqual(server.peers[0]?.received, ['still welcome']);
  assert.match(server.log(), /revoked or has expired .*"principal":"lost"/);
  const again = upgradeLines(server.port, [`Authorization: Bearer ${lost}`]);
  assert.equal(statusOf(await exchange(server.port, again)), 401);
  for (const client of clients.slice(2)) {
    await roundTrip(client, 'still here');
    client.close();
  }
  await Promise.all(server.peers.map(({ ended }) => ended));
  assert.equal(clock.pending(), 0, 'nothing is looked up for connections that have ended');
});

test('[ADM7] a client that does not answer the closing is cut', async (t) => {
  const { dataDir, server, create, pass } = await stage(t);
  const deaf = await connectDeaf(t, server.port, create('lost'));
  const { ended } = await server.peer();
  const cut = once(deaf, 'close');
  revokeToken(dataDir, 'lost');
  pass(5);
  await Promise.all([cut, ended]);
});

test('[ADM7] a token that expires ends its connections', async (t) => {
  const { server, create, connectAs, pass } = await stage(t);
  const client = await connectAs(create('short', 60_000));
  await server.peer();
  // In between it is heard: four pings without an answer would be a reason of their own.
  for (const seconds of [30, 29]) {
    pass(seconds);
    await roundTrip(client, 'some time left');
  }
  const code = closeCode(client);
  pass(6);
  assert.equal(await code, 4401);
});

test('[ADM5] a named token appears in no answer, no log line and no file, wherever it was sent', async (t) => {
  const { dataDir, server, create, connectAs, errors } = await stage(t);
  const { port } = server;
  const token = create('phone');
  const known = [token, token.slice('pixir_'.length)];
  const answers: string[] = [];
  for (const presented of [token, `${token}x`]) {
    for (const path of ['/acp', `/acp?token=${presented}`, `/${presented}`]) {
      for (const header of [`Authorization: Bearer ${presented}`, `Cookie: token=${presented}`]) {
        const headers = [`Host: localhost:${port}`, header, `Sec-WebSocket-Protocol: ${presented}`];
        answers.push(await exchange(port, upgradeLines(port, headers, path)));
        answers.push(await exchange(port, [`GET ${path} HTTP/1.1`, ...headers, 'Connection: close']));
      }
    }
  }
  assert.ok(answers.some((answer) => statusOf(answer) === 101));
  const client = await connectAs(token);
  revokeToken(dataDir, 'nobody');
  client.close();
  await server.close();
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dataDir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'));
  assert.equal(files.length, 1);
  for (const text of [...answers, server.log(), ...files, String(errors)]) {
    for (const piece of known) assert.ok(!text.includes(piece), text);
  }
});
