/** MCP servers over HTTP for tests: the real one, over Streamable HTTP, the same over the older SSE, and any handler at all. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import {
  type JSONRPCMessage,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { buildServer } from './mcp-server.ts';

type Handler = (request: Request) => Promise<Response> | Response;

export interface HttpServer extends AsyncDisposable {
  url: string;
  /** What was asked so far. */
  requests: Request[];
}

export async function serveHttp(handler: Handler): Promise<HttpServer> {
  const requests: Request[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const body = method === 'POST' ? (Readable.toWeb(incoming) as ReadableStream) : null;
    const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
    const request = new Request(`http://${headers.host}${url}`, { method, headers: given, body, duplex: 'half' });
    requests.push(request);
    const response = await handler(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    if (!response.body) return void outgoing.end();
    const answer = Readable.fromWeb(response.body as never);
    answer.on('error', () => outgoing.destroy());
    outgoing.on('close', () => answer.destroy());
    answer.pipe(outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The test server over Streamable HTTP, to who has the token; without one, to everybody. */
export function serveStreamable(token?: string): Promise<HttpServer> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return serveHttp(async (request) => {
    if (token !== undefined && request.headers.get('authorization') !== `Bearer ${token}`)
      return new Response('', { status: 401 });
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : sessions.get(id);
    if (known) return known.handleRequest(request);
    if (id !== null) return new Response('', { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
    await buildServer().connect(transport);
    return transport.handleRequest(request);
  });
}

/** The test server over the HTTP transport of 2024: one stream of events, and posts beside it. */
export function serveSse(): Promise<HttpServer> {
  const sessions = new Map<string, Transport>();
  return serveHttp(async (request) => {
    const id = new URL(request.url).searchParams.get('id');
    if (id !== null) {
      sessions.get(id)?.onmessage?.((await request.json()) as JSONRPCMessage);
      return new Response('', { status: 202 });
    }
    const session = randomUUID();
    const events = new TransformStream<Uint8Array, Uint8Array>();
    const writer = events.writable.getWriter();
    const send = (event: string, data: string) =>
      void writer.write(Buffer.from(`event: ${event}\ndata: ${data}\n\n`)).catch(() => undefined);
    const transport: Transport = {
      start: async () => send('endpoint', `/mcp?id=${session}`),
      send: async (message) => send('message', JSON.stringify(message)),
      close: async () => undefined,
    };
    sessions.set(session, transport);
    await buildServer().connect(transport);
    return new Response(events.readable, { headers: { 'content-type': 'text/event-stream' } });
  });
}
