/** A raw ACP client over a real WebSocket. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { WireClient } from './wire-client.ts';

export interface WebSocketConnection {
  client: WireClient;
  socket: WebSocket;
}

export async function connectWebSocket({ url, token }: { url: string; token: string }): Promise<WebSocketConnection> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/acp`, { headers: { authorization: `Bearer ${token}` } });
  const client = new WireClient().open({ send: (text) => socket.send(text), close: () => socket.close() });
  socket.on('message', (data) => client.receive(String(data)));
  socket.on('close', client.ended);
  socket.on('error', () => undefined);
  await once(socket, 'open');
  return { client, socket };
}
