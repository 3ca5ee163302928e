/** A client of Streamable HTTP that does nothing by itself: each request is one call, each stream is read when it is asked. */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { TestContext } from 'node:test';
import type { OpenPeer, Transport } from '../../src/acp/transport.ts';
import { LOCAL, type Principal } from '../../src/core/principal.ts';
import type { AppOptions } from '../../src/server/app.ts';
import type { Frame } from '../support/schema.ts';
import { type WorldOptions, world } from '../support/world.ts';
import { type EchoPeer, manualClock, startServer } from './support.ts';

export interface Event {
  id: string;
  frame: Frame;
}

export interface EventStream {
  status: number;
  headers: IncomingMessage['headers'];
  events: Event[];
  /** The signs of life between them. */
  comments(): number;
  /** The n-th event from the beginning, as soon as it is there. */
  event(index: number): Promise<Event>;
  pause(): void;
  resume(): void;
  /** Cuts the connection. */
  cut(): void;
  ended: Promise<void>;
}

export type Headers = Record<string, string>;

/** Everybody's token is their name. */
export const people = (token: string) => ({ principal: { ...LOCAL, name: token, owner: token } as Principal });
export const as = (name: string): Headers => ({ authorization: `Bearer ${name}` });

export const INITIALIZE = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: 1 } };

/** A Peer that answers every request with `{}` and keeps what it was given; the test sends for it. */
export function puppets() {
  const peers: EchoPeer[] = [];
  const openPeer: OpenPeer = (transport, principal) => {
    const ended = Promise.withResolvers<void>();
    const peer: EchoPeer = { transport, principal, received: [], closed: 0, ended: ended.promise };
    peers.push(peer);
    return {
      receive(text) {
        peer.received.push(text);
        const { id, method } = JSON.parse(text) as Frame;
        if (id !== undefined && method !== undefined)
          transport.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
      },
      draining: () => transport.send(JSON.stringify({ jsonrpc: '2.0', method: '_test/draining' })),
      async idle() {},
      closed() {
        peer.closed += 1;
        ended.resolve();
      },
    };
  };
  return { peers, openPeer };
}

export async function startStreamable(t: TestContext, options: Partial<AppOptions>) {
  const clock = manualClock();
  const server = await startServer(t, { authenticate: people, clock, ...options });
  const url = `http://127.0.0.1:${server.port}/acp`;

  const ask = (method: string, headers: Headers, body?: unknown) =>
    fetch(url, {
      method,
      headers: { ...as('ada'), ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });

  async function listen(headers: Headers): Promise<EventStream> {
    const request = httpRequest(url, { headers: { ...as('ada'), accept: 'text/event-stream', ...headers } });
    t.after(() => request.destroy());
    request.on('error', () => undefined).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const events: Event[] = [];
    let rest = '';
    let comments = 0;
    let heard = () => {};
    response.setEncoding('utf8').on('error', () => undefined);
    response.on('close', () => resolve());
    response.on('data', (piece: string) => {
      const blocks = (rest + piece).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, id, data] = block.match(/^id: (\d+)\ndata: (.*)$/) ?? [];
        if (id !== undefined && data !== undefined) events.push({ id, frame: JSON.parse(data) as Frame });
        if (block === ':') comments++;
      }
      heard();
    });
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      events,
      comments: () => comments,
      async event(index) {
        for (;;) {
          const event = events[index];
          if (event) return event;
          await new Promise<void>((found) => {
            heard = found;
          });
        }
      },
      pause: () => void response.pause(),
      resume: () => void response.resume(),
      cut: () => request.destroy(),
      ended,
    };
  }

  /** A new connection; what is sent with it names it. */
  async function connect(headers: Headers = {}): Promise<Headers> {
    const answer = await ask('POST', headers, INITIALIZE);
    return { ...headers, 'acp-connection-id': answer.headers.get('acp-connection-id') ?? '' };
  }

  return { ...server, clock, ask, listen, connect };
}

export const session = (id: string): Headers => ({ 'acp-session-id': id });
export const after = (id: string | number): Headers => ({ 'last-event-id': String(id) });

export interface Update {
  sessionUpdate?: string;
  content?: { text?: string };
}

export const request = (id: unknown, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params });
export const note = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', method, params });
export const namesOf = ({ events }: EventStream) => events.map(({ frame: { id, method } }) => method ?? id);

/** A client with a real agent: the stream of the connection is open, and there is a Session. */
export async function stage(t: TestContext, options: WorldOptions) {
  const w = await world(options);
  t.after(() => w[Symbol.asyncDispose]());
  const transports: Transport[] = [];
  const openPeer: OpenPeer = (transport, principal) => {
    transports.push(transport);
    return w.openPeer(transport, principal);
  };
  const server = await startStreamable(t, { openPeer });
  const mine = await server.connect();
  const stream = await server.listen(mine);
  const post = (message: object, headers: Headers = {}) => server.ask('POST', { ...mine, ...headers }, message);
  await post(request('new', 'session/new', { cwd: w.dir, mcpServers: [] }));
  const { frame } = await stream.event(0);
  const sessionId = String(frame.result?.sessionId);
  const here = session(sessionId);
  const prompt = (id: string) =>
    post(request(id, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] }), here);
  const unsent = () => transports[0]?.bufferedAmount ?? 0;
  return { w, server, mine, stream, post, sessionId, here, prompt, unsent };
}

export async function until(look: () => unknown): Promise<void> {
  while (!(await look())) await new Promise(setImmediate);
}
