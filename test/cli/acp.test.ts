import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { LOCAL } from '../../src/core/principal.ts';
import { createApp } from '../../src/server/app.ts';
import { APP_LIMITS } from '../support/app-limits.ts';
import {
  environmentFor,
  type RunningProcess,
  runPixir,
  startPixir,
  startServer,
  type Variables,
} from '../support/processes.ts';
import { checkFrame } from '../support/schema.ts';
import { tempDir } from '../support/temp-dir.ts';
import { WireClient } from '../support/wire-client.ts';
import { world } from '../support/world.ts';

const line = (id: number, method: string, params: unknown) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

function connectStdio({ child }: RunningProcess): WireClient {
  const client = new WireClient().open({
    send: (text) => child.stdin?.write(`${text}\n`),
    close: () => child.stdin?.end(),
  });
  const lines = createInterface({ input: child.stdout as Readable });
  lines.on('line', client.receive);
  lines.on('close', client.ended);
  return client;
}

async function startAcp(dataDir: string, extra: Variables = {}) {
  const running = startPixir(['acp'], environmentFor(dataDir, extra), dataDir);
  const client = connectStdio(running);
  await client.initialize();
  return { running, client };
}

test('[B29] [STDIO8] every line on stdout is JSON-RPC, what was asked before the end of stdin is answered, exit code 0', async () => {
  await using dir = await tempDir();
  const input =
    line(1, 'initialize', { protocolVersion: 1, clientInfo: { name: 'x', version: '1' } }) +
    line(2, 'session/new', { cwd: dir.path, mcpServers: [] }) +
    'not json\n';
  const { code, stdout, stderr } = await runPixir(['acp'], environmentFor(dir.path), input);
  const frames = stdout
    .trim()
    .split('\n')
    .map((text) => checkFrame(text, (id) => ({ 1: 'initialize', 2: 'session/new' })[Number(id)]));
  assert.deepEqual([code, stderr], [0, '']);
  // The fourth line tells the commands: a notification.
  assert.deepEqual(frames.map(({ id }) => id).sort(), [1, 2, null, undefined].sort());
});

test('[B30] [STDIO9] text is UTF-8 whatever the locale', async () => {
  await using dir = await tempDir();
  const { running, client } = await startAcp(dir.path, { LANG: 'C', LC_ALL: 'C' });
  await using _running = running;
  const sessionId = await client.newSession(dir.path);
  await client.prompt(sessionId, 'echo ¡Hola! acción 日本 🚀');
  assert.equal(client.text().trim(), '¡Hola! acción 日本 🚀');
  client.assertSound();
});

test('[STDIO10] the end of stdin in mid-Turn closes the Turn, answers the prompt and ends with 0', async () => {
  await using dir = await tempDir();
  const { running, client } = await startAcp(dir.path);
  await using _running = running;
  const sessionId = await client.newSession(dir.path);
  const prompt = client.prompt(sessionId, 'hang');
  await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
  running.child.stdin?.end();
  assert.deepEqual(await prompt, { stopReason: 'cancelled' });
  assert.equal((await running.exit()).code, 0);
  client.assertSound();
});

test('[START5] beside an agent in process a second one is refused, and stdout stays clean', async () => {
  await using dir = await tempDir();
  const { running } = await startAcp(dir.path);
  await using _running = running;
  const { code, stdout, stderr } = await runPixir(['acp'], environmentFor(dir.path));
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^pixir: .*process \d+.*\n$/);
});

test('[START5] beside a server it joins the server; its Turns outlive it, and it can end when the server hangs', async () => {
  await using dir = await tempDir();
  await using server = await startServer(dir.path, {}, ['--workspace', dir.path]);
  const { running, client } = await startAcp(dir.path);
  await using _running = running;
  const sessionId = await client.newSession(dir.path);
  client.prompt(sessionId, 'hang').catch(() => undefined);
  await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
  server.child.kill('SIGSTOP');
  running.child.kill('SIGTERM');
  assert.deepEqual([(await running.exit()).code, running.stderr()], [0, '']);
  client.assertSound();
  const { stdout } = await runPixir(['sessions', 'list'], environmentFor(dir.path));
  assert.match(stdout, /\trunning\t/);
  assert.equal(server.child.exitCode, null);
});

test('[BRIDGE10] --connect joins a server anywhere; usage errors, a useless token file and a wrong token end it', async () => {
  await using w = await world();
  await using stack = new AsyncDisposableStack();
  const authenticate = (candidate: string) => (candidate === 'the-token' ? { principal: LOCAL } : undefined);
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const app = await createApp({
    limits: APP_LIMITS,
    openPeer: w.openPeer,
    authenticate,
    readiness: () => true,
    logger,
  });
  stack.defer(() => app.close());
  const url = await app.listen({ port: 0 });
  const [right, wrong] = [join(w.dir, 'right'), join(w.dir, 'wrong')];
  await writeFile(right, 'the-token\n');
  await writeFile(wrong, 'another-token\n');
  const hello = line(1, 'initialize', { protocolVersion: 1 });
  const acp = (...args: string[]) => runPixir(['acp', ...args], environmentFor(w.dir), hello);

  for (const there of [url, `${url.replace('http', 'ws')}/acp`]) {
    const { code, stdout, stderr } = await acp('--connect', there, '--token-file', right);
    assert.deepEqual([code, JSON.parse(stdout).result.agentInfo.version, stderr], [0, '0.0.0', '']);
  }
  for (const args of [
    ['--connect', url],
    ['--token-file', right],
    ['--connect', 'ftp://x', '--token-file', right],
  ]) {
    const { code, stdout, stderr } = await acp(...args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, /^pixir: --connect .+ Try: pixir help\n$/);
  }
  for (const [file, reason] of [
    [wrong, /does not accept the token/],
    [join(w.dir, 'none'), /cannot be read/],
  ] as const) {
    const { code, stdout, stderr } = await acp('--connect', url, '--token-file', file);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^pixir: [^\n]+\n$/);
    assert.match(stderr, reason);
  }
});
