/** A cold start is scanned from outside; and so that silence means something, so is a server that does everything wrong. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { ROUTES } from '../../src/server/routes.ts';
import { startPixir } from '../support/processes.ts';
import { scan } from './scanner.ts';

const linux = { skip: process.platform === 'linux' ? false : 'needs /proc' };
const ICON = '/assets/icon.svg';
const paths = [...new Set(ROUTES.map(({ path }) => path.replace('/assets/:file', ICON)))];
const open = ['/', '/sw.js', ICON, '/healthz', '/readyz'].flatMap((path) => [`GET ${path}`, `HEAD ${path}`]);

function temporary(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'pixir-test-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

test('[SCAN1] a cold start with no configuration, scanned from outside, gives no finding', linux, async (t) => {
  const home = temporary(t);
  const project = join(home, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  await using server = startPixir(['serve', '--port', '0'], { HOME: home, PATH: process.env.PATH ?? '' }, project);
  let output = '';
  server.child.stdout?.on('data', (text) => {
    output += text;
  });
  const lines = createInterface({ input: server.child.stdout as Readable })[Symbol.asyncIterator]();
  const port = Number((await lines.next()).value?.match(/:(\d+)$/)?.[1]);
  const code = (await lines.next()).value?.match(/#launch=([\w-]+)/)?.[1];
  const dataDir = join(home, '.local', 'share', 'pixir');
  const findings = await scan({
    port,
    pid: server.child.pid ?? 0,
    dataDir,
    workspace: join(dataDir, 'playground'),
    paths,
    open,
    token: readFileSync(join(dataDir, 'token'), 'utf8').trim(),
    signIn: { code },
    output: () => output + server.stderr(),
  });
  assert.deepEqual(findings, []);
});

/** Everything wrong at once: no authentication, every page welcome, a banner, insides, lenient about what a request is. */
async function careless(t: TestContext): Promise<number> {
  const headers = {
    server: 'careless/1.0',
    'access-control-allow-origin': '*',
    'set-cookie': 'session=1',
  };
  const options = { insecureHTTPParser: true, requireHostHeader: false, maxHeaderSize: 1 << 20 };
  const http = createServer(options, (_request, answer) => {
    answer.writeHead(200, headers).end('Error: oops\n    at handler (/home/careless/server.js:1:1)');
  });
  http.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
  const http2 = createHttp2Server();
  const door = createNetServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('readable', () => {
      const first = socket.read() as Buffer | null;
      if (first === null) return;
      socket.unshift(first);
      (first.toString('latin1').startsWith('PRI') ? http2 : http).emit('connection', socket);
    });
  });
  const second = createNetServer();
  for (const server of [door, second]) {
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    t.after(() => server.close());
  }
  t.after(() => http.closeAllConnections());
  return (door.address() as AddressInfo).port;
}

test('[SCAN2] the same scan of a careless server finds each of its faults', linux, async (t) => {
  const dataDir = join(temporary(t), 'data');
  mkdirSync(dataDir, { mode: 0o755 });
  writeFileSync(join(dataDir, 'token'), 'secret-of-the-careless', { mode: 0o644 });
  const findings = await scan({
    port: await careless(t),
    pid: process.pid,
    dataDir,
    workspace: join(dataDir, 'playground'),
    paths,
    open,
    // Something that every process shows of itself.
    token: process.env.PATH ?? '',
    signIn: {},
    output: () => `listening; your token is ${process.env.PATH}`,
  });
  assert.deepEqual(findings.map(({ what }) => what).sort(), [
    'CORS for a foreign origin',
    'HTTP/2 without TLS',
    'a credential is printed',
    'a credential where others see it',
    'a file is open to others',
    'a foreign page gets a WebSocket',
    'a foreign page is served',
    'a request that can be read in two ways',
    'a way to files',
    'an odd request is served',
    'answered without a credential',
    'banner',
    'cookie without its flags',
    'insides in an answer',
    'listens beyond loopback',
    'listens on more than one socket',
    'security header missing',
    'the data directory is open to others',
  ]);
});
