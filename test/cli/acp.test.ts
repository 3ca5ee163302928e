import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { environmentFor, type RunningProcess, runPixir, startPixir, type Variables } from '../support/processes.ts';
import { checkFrame } from '../support/schema.ts';
import { tempDir } from '../support/temp-dir.ts';
import { WireClient } from '../support/wire-client.ts';

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
  assert.deepEqual(frames.map(({ id }) => id).sort(), [1, 2, null].sort());
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

test('[START5] a second agent on the same data directory is refused, and stdout stays clean', async () => {
  await using dir = await tempDir();
  const { running } = await startAcp(dir.path);
  await using _running = running;
  const { code, stdout, stderr } = await runPixir(['acp'], environmentFor(dir.path));
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^pixir: .*process \d+.*\n$/);
});
