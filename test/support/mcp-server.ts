/** A real MCP server for tests, over stdio or Streamable HTTP, with a tool for each way in which a call can go. */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const none = z.object({});

export function buildServer(): McpServer {
  const server = new McpServer({ name: 'test', version: '1' });
  server.registerTool(
    'echo',
    { description: 'Says it again.', inputSchema: z.object({ text: z.string() }), annotations: { readOnlyHint: true } },
    async ({ text }) => ({ content: [{ type: 'text', text }] }),
  );
  server.registerTool('poke', { description: 'Changes something.', inputSchema: none }, async () => ({
    content: [{ type: 'text', text: 'poked' }],
  }));
  server.registerTool('fail', { inputSchema: none }, async () => ({
    isError: true,
    content: [{ type: 'text', text: 'it did not work' }],
  }));
  server.registerTool('rich', { inputSchema: none }, async () => ({
    content: [
      { type: 'text', text: 'see' },
      { type: 'image', data: 'A'.repeat(16_000), mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'in it' } },
      { type: 'resource', resource: { uri: 'file:///b.bin', blob: 'AAAA' } },
      { type: 'resource_link', uri: 'https://example.org/x', name: 'x' },
    ],
  }));
  server.registerTool('flood', { inputSchema: none }, async () => ({
    content: [{ type: 'text', text: 'x'.repeat(1_000_000) }],
  }));
  server.registerTool('env', { inputSchema: none }, async () => ({
    content: [{ type: 'text', text: JSON.stringify(process.env) }],
  }));
  server.registerTool('wait', { inputSchema: none }, async (_args, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined)
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: 1, total: 2, message: 'half' },
      });
    await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve));
    if (process.env.TEST_LOG) appendFileSync(process.env.TEST_LOG, 'cancelled\n');
    return { content: [] };
  });
  server.registerTool('more', { description: 'Adds a tool.', inputSchema: none }, async () => {
    server.registerTool('extra', { inputSchema: none }, async () => ({ content: [{ type: 'text', text: 'extra' }] }));
    return { content: [{ type: 'text', text: 'added' }] };
  });
  return server;
}

if (import.meta.main) {
  if (process.env.TEST_LOG) appendFileSync(process.env.TEST_LOG, `started ${process.pid}\n`);
  const server = buildServer();
  server.registerTool('die', { inputSchema: none }, async () => process.exit(3));
  server.registerTool('spawn', { inputSchema: none }, async () => {
    // Leaves its parent's group, ignores what it is asked and holds nothing of ours.
    const child = spawn(
      process.execPath,
      ['-e', 'process.on("SIGTERM",()=>{});setInterval(()=>{},1e3)', 'grandchild'],
      {
        detached: true,
        stdio: 'ignore',
      },
    );
    return { content: [{ type: 'text', text: String(child.pid) }] };
  });
  await server.connect(new StdioServerTransport());
}
