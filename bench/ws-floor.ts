/**
 * The bare WebSocket server of the floors, a process of its own: it echoes what it gets, and `send N` makes it send N
 * updates one way, `cork N` the same with the socket corked.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { endWithParent, environmentOf, firstLine, type Running, scratchDirectory, startNode } from './processes.ts';

/** As long as an ordinary text update. */
const UPDATE = JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { text: 'x'.repeat(136) } });

export async function startWebSocketFloor(): Promise<Running & { url: string }> {
  const running = startNode([import.meta.filename], environmentOf(scratchDirectory('ws')));
  return { ...running, url: await firstLine(running) };
}

function serve(): void {
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (ws, request) => {
    ws.on('message', (data) => respond(ws, request, data.toString()));
  });
  server.listen(0, '127.0.0.1', () => console.log(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  endWithParent();
}

function respond(ws: WebSocket, { socket }: IncomingMessage, text: string): void {
  const [order, count] = text.split(' ');
  if (order !== 'send' && order !== 'cork') {
    ws.send(text);
    return;
  }
  if (order === 'cork') socket.cork();
  for (let sent = 0; sent < Number(count); sent++) ws.send(UPDATE);
  if (order === 'cork') socket.uncork();
}

if (import.meta.main) serve();
