/** The nginx of docs/proxy.md in front of a real server, below a path, with TLS: what browsers and clients get through it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { connect } from '../../src/client/connect.ts';
import { type Ports, systemPorts } from '../../src/client/ports.ts';
import { type Certificate, hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { freePort, hasNginx, type Nginx, startNginx } from '../support/nginx.ts';
import { environmentFor, runPixir, startPixir } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { WireClient } from '../support/wire-client.ts';

const NAME = 'example.org';

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: object;
  /** All of 127.0.0.0/8 is this machine. */
  from?: string;
}

/** A server behind nginx, and requests to its public name. */
async function stage(t: TestContext) {
  const stack = new AsyncDisposableStack();
  t.after(() => stack.disposeAsync());
  const { path: dir } = stack.use(await tempDir());
  const certificate = makeCertificate(dir, NAME);
  const { port, nginx, link } = await startBoth(stack, dir, certificate);
  const host = `${NAME}:${port}`;
  const dial = { host: '127.0.0.1', port, servername: NAME, ca: certificate.cert };
  const ask = async (path: string, { method = 'GET', headers = {}, body, from = '127.0.0.1' }: Asked = {}) => {
    const type: Record<string, string> = body ? { 'content-type': 'application/json' } : {};
    const all = { host, ...type, ...headers };
    const sent = request({ ...dial, path, method, headers: all, localAddress: from, agent: false });
    sent.end(body && JSON.stringify(body));
    const [answer] = await once(sent, 'response');
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) text += chunk;
    return {
      status: answer.statusCode as number,
      text,
      cookie: answer.headers['set-cookie']?.[0] as string | undefined,
    };
  };
  const trust = { ca: dial.ca, servername: dial.servername };
  const socketTo = (headers: Record<string, string>) =>
    new WebSocket(`wss://127.0.0.1:${port}/agent/acp`, ['acp.v1'], { ...trust, headers: { host, ...headers } });
  return { dir, nginx, link, host, origin: `https://${host}`, ask, socketTo };
}

async function startBoth(stack: AsyncDisposableStack, dir: string, certificate: Certificate) {
  for (let attempt = 0; attempt < 5; attempt++) {
    const port = await freePort();
    const flags = ['--behind-proxy', '127.0.0.1', '--public-url', `https://${NAME}:${port}/agent`];
    const args = ['serve', '--port', '0', '--workspace', dir, ...flags];
    const server = startPixir(args, environmentFor(dir, { PIXIR_MAX_WRONG_CREDENTIALS_PER_MINUTE: '2' }));
    const lines = createInterface({ input: server.child.stdout as Readable })[Symbol.asyncIterator]();
    const [, upstream = assert.fail(server.stderr())] =
      ((await lines.next()).value ?? '').match(/^listening on (http:\S+)$/) ?? [];
    const link = (await lines.next()).value?.split(' ')[1] ?? '';
    const nginx = await startNginx({ dir, port, upstream, certificate });
    if (nginx) {
      stack.use(server);
      return { port, link, nginx: stack.use(nginx) as Nginx };
    }
    await server[Symbol.asyncDispose]();
  }
  throw new Error('no port is free');
}

type Stage = Awaited<ReturnType<typeof stage>>;

/** The reference client, with a certificate that no system trusts. */
function portsThrough({ ask, socketTo }: Stage, onOpen: () => void): Ports {
  return {
    ...systemPorts,
    connect({ headers }, on) {
      const socket = socketTo(headers);
      socket.on('open', () => {
        onOpen();
        on.open();
      });
      socket.on('message', (data) => on.message(String(data)));
      socket.on('close', (code) => on.closed(code)).on('error', () => undefined);
      return { send: (text) => socket.send(text), close: () => socket.terminate() };
    },
    status: async ({ headers }) => (await ask('/agent/acp', { headers })).status,
    random: () => 0,
  };
}

const skip = !hasNginx ? 'no nginx' : !hasOpenssl ? 'no openssl' : false;

test('[PROXY3] behind the nginx of docs/proxy.md, below a path: page, sign-in, WebSocket, and who is kept out', async (t) => {
  if (skip) return t.skip(skip);
  const { ask, origin, host, link, dir, socketTo } = await stage(t);
  const page = await ask('/agent/');
  assert.equal(page.status, 200);
  const [, script = ''] = page.text.match(/<script type="module"[^>]* src="([^"]+)">/) ?? [];
  const { pathname } = new URL(script, `${origin}/agent/`);
  assert.match(pathname, /^\/agent\/assets\/index-/);
  assert.equal((await ask(pathname)).status, 200);
  assert.doesNotMatch(page.text, /(src|href)="\//, 'nothing leads past the path');

  const [at = '', code] = link.split('#launch=');
  assert.equal(at, `${origin}/agent/`);
  const signedIn = await ask('/agent/api/login', { method: 'POST', body: { code }, headers: { origin } });
  assert.equal(signedIn.status, 200);
  assert.match(
    signedIn.cookie ?? '',
    /^__Secure-pixir=pixir_[\w-]{43}; Path=\/agent\/; .*HttpOnly; SameSite=Strict; Secure$/,
  );
  const cookie = signedIn.cookie?.split(';', 1)[0] ?? '';

  const socket = socketTo({ cookie, origin });
  await once(socket, 'open');
  const client = new WireClient().open({ send: (text) => socket.send(text), close: () => socket.close() });
  socket.on('message', (data) => client.receive(String(data)));
  await client.initialize();
  const sessionId = await client.newSession(dir);
  assert.deepEqual(await client.prompt(sessionId, 'echo through nginx'), { stopReason: 'end_turn' });
  assert.equal(client.text(sessionId, 'agent_message_chunk').trim(), 'through nginx');
  client.assertSound();
  socket.terminate();

  for (const headers of [
    { cookie, origin: 'https://evil.example' },
    { cookie, origin: `https://${NAME}` },
    { cookie, origin, host: 'evil.example' },
    { cookie, origin, host: `${host}.evil.example` },
  ]) {
    const refused = socketTo(headers);
    refused.on('error', () => undefined);
    const [, answer] = await once(refused, 'unexpected-response');
    assert.equal(answer.statusCode, 403, JSON.stringify(headers));
    refused.terminate();
    assert.equal((await ask('/agent/api/logout', { method: 'POST', headers })).status, 403);
  }

  const wrong = async (from: string, forwarded: string) => {
    const headers = { authorization: 'Bearer wrong', 'x-forwarded-for': forwarded };
    return (await ask('/agent/metrics', { headers, from })).status;
  };
  const seen: number[] = [];
  for (const forged of ['203.0.113.1', '203.0.113.2, 127.0.0.1', '127.0.0.8'])
    seen.push(await wrong('127.0.0.7', forged));
  assert.deepEqual(seen, [401, 401, 429], 'three attempts of one address, whatever it says');
  assert.equal(await wrong('127.0.0.8', '127.0.0.7'), 401, 'and of another, the first');
});

test('[PROXY3] a reload of nginx cuts every connection, and the reference client loses nothing', async (t) => {
  if (skip) return t.skip(skip);
  const there = await stage(t);
  const { stdout: token } = await runPixir(['token', 'create', 'phone'], environmentFor(there.dir));
  let connections = 0;
  const ports = portsThrough(there, () => connections++);
  const client = connect(`${there.origin}/agent/acp`, { token: token.trim(), ports });
  t.after(() => client.close());
  const session = await client.newSession({ cwd: there.dir });
  const prompts = ['echo one', 'echo two', 'echo three'];
  for (const prompt of prompts) {
    const [answer] = await Promise.all([session.prompt(prompt), there.nginx.reload()]);
    assert.equal(answer.stopReason, 'end_turn');
  }
  assert.ok(connections > 1, `${connections} connections`);
  const read = session.transcript.items.map((item) =>
    item.type === 'message' ? item.text.trim() : item.type === 'user' ? 'asked' : item.type,
  );
  assert.deepEqual(
    read,
    prompts.flatMap((prompt) => ['asked', prompt.replace('echo ', '')]),
  );
});
