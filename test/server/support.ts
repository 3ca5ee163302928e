/** A real server on a free port with a Peer that echoes, and the clients to reach it with. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import type { OpenPeer, Transport } from '../../src/acp/transport.ts';
import type { Clock } from '../../src/core/clock.ts';
import { LOCAL, type Principal } from '../../src/core/principal.ts';
import { type AppOptions, createApp } from '../../src/server/app.ts';
import type { Logger } from '../../src/server/logger.ts';
import { APP_LIMITS } from '../support/app-limits.ts';
import { uiFixture } from '../support/ui-fixture.ts';

export const TOKEN = 'canary-0123456789abcdef';
export const ADA: Principal = { ...LOCAL, name: 'ada', owner: 'ada' };
export const BEARER = { authorization: `Bearer ${TOKEN}` };

/** What one connection looked like from the inside. */
export interface EchoPeer {
  transport: Transport;
  principal: Principal;
  received: string[];
  closed: number;
  ended: Promise<void>;
}

export interface TestServer {
  port: number;
  url: string;
  peers: EchoPeer[];
  /** Everything logged so far, as one text to search in. */
  log(): string;
  /** The Peer of the n-th connection, as soon as there is one. */
  peer(index?: number): Promise<EchoPeer>;
  connect(headers?: Record<string, string>): Promise<WebSocket>;
  close(): Promise<void>;
}

export async function startServer(
  t: TestContext,
  overrides: Partial<AppOptions> = {},
  host = '127.0.0.1',
): Promise<TestServer> {
  const peers: EchoPeer[] = [];
  const lines: string[] = [];
  const record = (fields: object, message: string) => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const logger: Logger = { debug: record, info: record, warn: record, error: record };
  const opened = new EventTarget();

  const openPeer: OpenPeer = (transport, principal) => {
    const ended = Promise.withResolvers<void>();
    const peer: EchoPeer = { transport, principal, received: [], closed: 0, ended: ended.promise };
    peers.push(peer);
    opened.dispatchEvent(new Event('peer'));
    return {
      receive(text) {
        peer.received.push(text);
        transport.send(text);
      },
      draining() {},
      async idle() {},
      closed() {
        peer.closed += 1;
        ended.resolve();
      },
    };
  };

  const app = await createApp({
    openPeer,
    authenticate: (token) => (token === TOKEN ? { principal: ADA } : undefined),
    readiness: () => true,
    limits: APP_LIMITS,
    logger,
    uiDir: uiFixture(t),
    ...overrides,
  });
  await app.listen({ host, port: 0 });
  const { port } = app.server.address() as { port: number };
  const close = () => app.close().then(() => undefined);
  t.after(close);

  const url = `ws://127.0.0.1:${port}/acp`;
  return {
    port,
    url,
    peers,
    log: () => lines.join('\n'),
    async peer(index = 0) {
      for (;;) {
        const peer = peers[index];
        if (peer) return peer;
        await once(opened, 'peer');
      }
    },
    async connect(headers = BEARER) {
      const client = new WebSocket(url, { headers });
      t.after(() => client.terminate());
      await once(client, 'open');
      return client;
    },
    close,
  };
}

/** Sends exactly these lines and returns everything that came back until the server closed. */
export async function exchange(port: number, lines: readonly string[], address = '127.0.0.1'): Promise<string> {
  const socket = connect(port, address);
  let answer = '';
  socket.setEncoding('utf8').on('data', (text) => {
    answer += text;
    // An accepted upgrade stays open; the test has seen enough.
    if (answer.startsWith('HTTP/1.1 101')) socket.destroy();
  });
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await once(socket, 'close');
  return answer;
}

export function upgradeLines(port: number, headers: readonly string[], path = '/acp'): string[] {
  return [
    `GET ${path} HTTP/1.1`,
    ...(headers.some((header) => /^host:/i.test(header)) ? [] : [`Host: 127.0.0.1:${port}`]),
    ...headers,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
}

/** A client that has completed the handshake and then answers nothing, neither pings nor closing. */
export async function connectDeaf(t: TestContext, port: number, token = TOKEN): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write(`${upgradeLines(port, [`Authorization: Bearer ${token}`]).join('\r\n')}\r\n\r\n`);
  await once(socket, 'data');
  socket.resume();
  return socket;
}

export function statusOf(answer: string): number {
  return Number(answer.match(/^HTTP\/1\.1 (\d{3})/)?.[1]);
}

/** A clock that stands still until it is told to go on. */
export function manualClock(): Clock & { advance(ms: number): void; pending(): number } {
  let now = 0;
  const due = new Set<{ at: number; fn: () => void }>();
  return {
    now: () => now,
    after(ms, fn) {
      const timer = { at: now + ms, fn };
      due.add(timer);
      return () => due.delete(timer);
    },
    pending: () => due.size,
    advance(ms) {
      now += ms;
      for (const timer of [...due].filter(({ at }) => at <= now)) {
        due.delete(timer);
        timer.fn();
      }
    },
  };
}
