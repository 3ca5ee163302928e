/**
 * The smallest agent on the official ACP SDK with the openai package: a conversation in memory, one tool, no database.
 * What it needs is the price of the libraries; `--ws` serves WebSocket instead of stdio.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { createNodeWebSocketUpgradeHandler } from '@agentclientprotocol/sdk/experimental/node';
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server';
import { OpenAI } from 'openai';
import { WebSocketServer } from 'ws';

type Item = OpenAI.Responses.ResponseInputItem;
type Call = OpenAI.Responses.ResponseFunctionToolCall;

const TOOLS: OpenAI.Responses.FunctionTool[] = [
  {
    type: 'function',
    name: 'read',
    description: 'Read a UTF-8 text file.',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    strict: false,
  },
];

const model = new OpenAI();
const sessions = new Map<string, { cwd: string; input: Item[] }>();

function createAgent(): acp.AgentApp {
  return acp
    .agent({ name: 'sdk-floor' })
    .onRequest(acp.methods.agent.initialize, () => ({ protocolVersion: 1, agentCapabilities: {} }))
    .onRequest(acp.methods.agent.session.new, ({ params }) => {
      const sessionId = `session_${sessions.size}`;
      sessions.set(sessionId, { cwd: params.cwd, input: [] });
      return { sessionId };
    })
    .onRequest(acp.methods.agent.session.prompt, async ({ params, client }) => {
      const session = sessions.get(params.sessionId);
      if (!session) throw acp.RequestError.invalidParams();
      const content = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('');
      session.input.push({ role: 'user', content });
      const update = (update: acp.SessionUpdate) =>
        client.notify(acp.methods.client.session.update, { sessionId: params.sessionId, update });
      for (;;) {
        const calls = await askModel(session.input, update);
        for (const call of calls) session.input.push(call, await runTool(call, session.cwd, update));
        if (calls.length === 0) return { stopReason: 'end_turn' };
      }
    });
}

type Update = (update: acp.SessionUpdate) => Promise<void>;

async function askModel(input: Item[], update: Update): Promise<Call[]> {
  const calls: Call[] = [];
  const stream = await model.responses.create({ model: 'bench', input, tools: TOOLS, stream: true, store: false });
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') {
      await update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: event.delta } });
    } else if (event.type === 'response.output_item.done') {
      if (event.item.type === 'function_call') calls.push(event.item);
      if (event.item.type === 'message') input.push(event.item);
    }
  }
  return calls;
}

async function runTool(call: Call, cwd: string, update: Update): Promise<Item> {
  const { path } = JSON.parse(call.arguments) as { path: string };
  const toolCallId = call.call_id;
  await update({ sessionUpdate: 'tool_call', toolCallId, title: `read ${path}`, kind: 'read', status: 'in_progress' });
  const output = await readFile(join(cwd, path), 'utf8');
  const content: acp.ToolCallContent[] = [{ type: 'content', content: { type: 'text', text: output } }];
  await update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', content });
  return { type: 'function_call_output', call_id: toolCallId, output };
}

function serveStdio(): void {
  const output = Writable.toWeb(process.stdout) as WritableStream<Uint8Array>;
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  createAgent().connect(acp.ndJsonStream(output, input));
}

function serveWebSocket(): void {
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const server = createServer();
  server.on('upgrade', createNodeWebSocketUpgradeHandler(new AcpServer({ createAgent }), sockets));
  server.listen(0, '127.0.0.1', () => console.log(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/acp`));
  process.stdin.on('end', () => process.exit(0)).resume();
}

if (process.argv.includes('--ws')) serveWebSocket();
else serveStdio();
