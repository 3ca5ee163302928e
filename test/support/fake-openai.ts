/**
 * A model server over real HTTP that does what a test tells it, in both dialects of OpenAI. It is strict about what it
 * is sent and remembers it. It lists its models to whoever asks. With nothing told it answers "Hello from the fake model."
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { chatBlocks } from './fake-openai-chat.ts';
import { chatFault, responsesFault } from './fake-openai-check.ts';
import { responsesBlocks } from './fake-openai-responses.ts';
import { type Block, type ModelStep, message } from './fake-openai-steps.ts';

export interface FakeRequest {
  path: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads into whatever was sent.
  body: any;
  socket: Socket;
  /** Resolves when the client has closed the request before the answer was complete. */
  abandoned: Promise<void>;
}

export interface FakeOpenAi extends AsyncDisposable {
  /** What a provider gets as its base URL. */
  baseUrl: string;
  requests: FakeRequest[];
  /** The next request that comes. */
  next(): Promise<FakeRequest>;
  /** What the model says to the next request that has no answer yet. */
  answer(...steps: ModelStep[]): void;
  /** An answer that is no stream: an error, a redirect, a page. An object is sent as JSON. */
  respond(status: number, body?: unknown, headers?: Record<string, string>): void;
  /** Drops the answers that nobody has asked for. */
  forget(): void;
  /** How the bytes of an answer are cut into HTTP chunks; one for each event by default. */
  slice(bytes: Buffer): Iterable<Buffer>;
}

type Behaviour = readonly ModelStep[] | { status: number; body: unknown; headers: Record<string, string> };

const HELLO: readonly ModelStep[] = [message('Hello ', 'from ', 'the ', 'fake ', 'model.')];

export async function startFakeOpenAi(): Promise<FakeOpenAi> {
  const behaviours: Behaviour[] = [];
  const waiting: ((request: FakeRequest) => void)[] = [];
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const fake: FakeOpenAi = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests: [],
    next: () => new Promise((resolve) => waiting.push(resolve)),
    answer: (...steps) => behaviours.push(steps),
    respond: (status, body = '', headers = {}) => behaviours.push({ status, body, headers }),
    forget: () => void behaviours.splice(0),
    slice: (bytes) => [bytes],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const behaviour = behaviours.shift() ?? HELLO;
    const { promise: abandoned, resolve } = Promise.withResolvers<void>();
    response.once('close', () => !response.writableFinished && resolve());
    const path = incoming.url ?? '';
    const { headers, socket } = incoming;
    const request: FakeRequest = { path, headers, body: await readJson(incoming), socket, abandoned };
    fake.requests.push(request);
    waiting.shift()?.(request);
    const fault = incoming.method === 'GET' ? null : faultOf(request);
    if (fault) reply(response, 400, { error: { type: 'invalid_request_error', message: `fake: ${fault}` } });
    else if ('status' in behaviour) reply(response, behaviour.status, behaviour.body, behaviour.headers);
    else if (incoming.method === 'GET')
      reply(response, path === '/v1/models' ? 200 : 404, { object: 'list', data: [] });
    else await stream(response, blocksFor(request, behaviour), (bytes) => fake.slice(bytes));
  }

  return fake;
}

function faultOf({ path, body }: FakeRequest): string | null {
  if (path === '/v1/responses') return responsesFault(body);
  return path === '/v1/chat/completions' ? chatFault(body) : `no such path: ${path}`;
}

function blocksFor({ path, body }: FakeRequest, steps: readonly ModelStep[]): Iterable<Block> {
  return path === '/v1/responses' ? responsesBlocks(steps) : chatBlocks(steps, body.stream_options !== undefined);
}

async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString() || 'null');
}

function reply(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

async function stream(
  response: ServerResponse,
  blocks: Iterable<Block>,
  slice: (bytes: Buffer) => Iterable<Buffer>,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'req_fake' });
  response.flushHeaders();
  for (const block of blocks) {
    if (response.destroyed) return;
    if (block === 'stall') return;
    if (block === 'cut') return void response.destroy();
    if (block === 'end') break;
    if (typeof block !== 'string') await block;
    else for (const bytes of slice(Buffer.from(block))) response.write(bytes);
  }
  response.end();
}
