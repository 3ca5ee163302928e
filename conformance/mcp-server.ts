/** The smallest MCP server there can be: it shakes hands on stdio and offers one tool. It never does anything. */
import { createInterface } from 'node:readline';

const TOOL = { name: 'nothing', description: 'Does nothing.', inputSchema: { type: 'object', properties: {} } };

const RESULTS: Record<string, (params: { protocolVersion?: string }) => unknown> = {
  initialize: ({ protocolVersion = '2025-06-18' }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'conformance', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'nothing was done' }] }),
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params?: object };
  if (id === undefined) continue;
  const result = RESULTS[method]?.(params ?? {});
  const outcome = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
}
