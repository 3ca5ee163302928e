/**
 * The bare WebSocket server of the floors, a process of its own: it echoes what it gets, and an order makes it send
 * updates: `send N` one way, `cork N` the same with the socket corked, `fan N MARK` to every client, the last with MARK
 * in it, `pace N MS` one at a time.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { PROBED } from './probe.ts';
import { endWithParent, environmentOf, firstLine, type Running, scratchDirectory, startNode } from './processes.ts';
import type { Endpoint } from './wires.ts';

/** As long as an ordinary text update. */
const UPDATE = updateOf('x'.repeat(136));

function updateOf(text: string): string {
  return JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { text } });
}

/** @param probed makes it answer `probe`. */
export async function startWebSocketFloor(probed = false): Promise<Running & Endpoint> {
  const running = startNode([import.meta.filename], environmentOf(scratchDirectory('ws'), probed ? PROBED : {}));
  return { ...running, url: await firstLine(running) };
}

type Sockets = ReadonlyMap<WebSocket, IncomingMessage['socket']>;

function serve(): void {
  const server = createServer();
  const sockets = new Map<WebSocket, IncomingMessage['socket']>();
  new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (ws, { socket }) => {
    sockets.set(ws, socket);
    ws.on('close', () => sockets.delete(ws));
    ws.on('message', (data) => respond(ws, sockets, data.toString()));
  });
  server.listen(0, '127.0.0.1', () => console.log(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  endWithParent();
}

function respond(ws: WebSocket, sockets: Sockets, text: string): void {
  const [order, count, argument = ''] = text.split(' ');
  if (order === 'fan') fan(sockets, Number(count), argument);
  else if (order === 'pace') pace(ws, Number(count), Number(argument));
  else if (order === 'send') send(ws, Number(count));
  else if (order === 'cork') {
    sockets.get(ws)?.cork();
    send(ws, Number(count));
    sockets.get(ws)?.uncork();
  } else ws.send(text);
}

function send(ws: WebSocket, count: number): void {
  for (let sent = 0; sent < count; sent++) ws.send(UPDATE);
}

/** Encoded once for all, and one write to each. */
function fan(sockets: Sockets, count: number, mark: string): void {
  const [update, last] = [Buffer.from(UPDATE), Buffer.from(updateOf(mark.padEnd(136)))];
  for (const socket of sockets.values()) socket.cork();
  for (let sent = 1; sent <= count; sent++) {
    for (const ws of sockets.keys()) ws.send(sent < count ? update : last, { binary: false });
  }
  for (const socket of sockets.values()) socket.uncork();
}

function pace(ws: WebSocket, count: number, ms: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    ws.send(UPDATE);
    sent += 1;
    if (sent === count) clearInterval(timer);
  }, ms);
  ws.on('close', () => clearInterval(timer));
}

if (import.meta.main) serve();
