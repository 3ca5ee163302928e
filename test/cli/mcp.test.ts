/** Who may start what, in the product as it is composed: any server over stdio, only listed ones over the network. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { environmentFor, runPixir, startServer, type Variables } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { SERVER } from '../tools/mcp-support.ts';

const server = { name: 'a', command: process.execPath, args: [SERVER], env: [] };

function requests(cwd: string): string[] {
  const calls = [
    { id: 1, method: 'initialize', params: { protocolVersion: 1 } },
    { id: 2, method: 'session/new', params: { cwd, mcpServers: [server] } },
  ];
  return calls.map((call) => JSON.stringify({ jsonrpc: '2.0', ...call }));
}

const mcpOf = (frames: string[]) =>
  frames.map((frame) => JSON.parse(frame)).find(({ id }) => id === 2).result._meta.pixir.mcp;

async function overWebSocket(dataDir: string, extra: Variables) {
  await using running = await startServer(join(dataDir, 'data'), { PIXIR_WORKSPACES: dataDir, ...extra });
  const headers = { authorization: `Bearer ${running.token}` };
  const socket = new WebSocket(`${running.url.replace('http', 'ws')}/acp`, { headers });
  const answered = Promise.withResolvers<string>();
  socket.on('message', (data) => JSON.parse(String(data)).id === 2 && answered.resolve(String(data)));
  socket.on('close', (code) => answered.reject(new Error(`closed with ${code}`)));
  await once(socket, 'open');
  for (const request of requests(dataDir)) socket.send(request);
  const mcp = mcpOf([await answered.promise]);
  socket.terminate();
  return mcp;
}

test('[MCP7] over stdio any server is started; over the network one that the operator lists', async () => {
  await using dir = await tempDir();
  const { stdout } = await runPixir(['acp'], environmentFor(join(dir.path, 'a')), `${requests(dir.path).join('\n')}\n`);
  assert.deepEqual(mcpOf(stdout.trim().split('\n')), [{ name: 'a', ok: true }]);
  const message = 'its command is not in PIXIR_MCP_COMMANDS of the server';
  assert.deepEqual(await overWebSocket(dir.path, {}), [{ name: 'a', ok: false, message }]);
  assert.deepEqual(await overWebSocket(dir.path, { PIXIR_MCP_COMMANDS: process.execPath }), [{ name: 'a', ok: true }]);
});
