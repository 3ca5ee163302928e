/** Any number of agents behind one WebSocket server in this process: an agent for each connection, with common Sessions. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { openAgent, type Store } from './broken.ts';

export interface Host extends AsyncDisposable {
  url: string;
}

export async function hostAgent(defect: string): Promise<Host> {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    path: '/acp',
    verifyClient: ({ origin }: { origin?: string }) => origin === undefined,
  });
  const store: Store = new Map();
  server.on('headers', (headers) => headers.push(`Acp-Connection-Id: ${randomUUID()}`));
  server.on('connection', (socket) => {
    const receive = openAgent(defect, store, (text) => socket.send(text));
    socket.on('message', (data, isBinary) => void (isBinary || receive(String(data))));
  });
  await once(server, 'listening');
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/acp`,
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
