/** What stands in front of a server below a path, as docs/proxy.md asks for it: a proxy that takes the path off. It can cut. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

export interface ReverseProxy extends AsyncDisposable {
  /** Where clients reach the server: with the path, without a slash at its end. */
  url: string;
  /** @param upstream where it listens */
  lead(upstream: string): void;
  /** Ends every WebSocket without a word. */
  cut(): void;
}

export async function startReverseProxy(path: string): Promise<ReverseProxy> {
  const sockets = new Set<Duplex>();
  let upstream = '';
  const proxy = createServer((incoming, answer) => {
    const passed = pass(incoming, path, upstream)?.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    if (!passed) return void answer.writeHead(404).end();
    passed.on('error', () => answer.destroy());
    incoming.pipe(passed);
  });
  proxy.on('upgrade', (incoming: IncomingMessage, client: Duplex) => {
    const passed = pass(incoming, path, upstream)?.on('upgrade', (response, server, first) => {
      client.write(headOf(response));
      client.write(first);
      for (const socket of [client, server]) {
        sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      }
      client.pipe(server).pipe(client);
    });
    if (!passed) return void client.end('HTTP/1.1 404 Not Found\r\n\r\n');
    passed.on('response', (response) => response.on('end', () => client.end(headOf(response))).resume());
    passed.on('error', () => client.destroy()).end();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${path}`,
    lead: (to) => {
      upstream = to;
    },
    cut,
    async [Symbol.asyncDispose]() {
      proxy.close();
      proxy.closeAllConnections();
      cut();
      await once(proxy, 'close');
    },
  };
}

/** The same request without the path in front; undefined where it has another one. */
function pass({ url = '', method, headers, socket }: IncomingMessage, path: string, upstream: string) {
  if (!url.startsWith(`${path}/`)) return undefined;
  const client = { 'x-forwarded-for': socket.remoteAddress };
  return request(upstream + url.slice(path.length), { method, headers: { ...headers, ...client } });
}

function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let index = 0; index < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
