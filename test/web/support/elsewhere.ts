/** A copy of the page at another origin, as somebody would host it: its own policy, and a meta element that names the server. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { REPOSITORY } from '../../support/processes.ts';

const DIST = join(REPOSITORY, 'web', 'dist');
const TYPES: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

export interface Elsewhere extends AsyncDisposable {
  /** Another site than the server's, not only another port: no cookie of the server's would come along. */
  origin: string;
  /** The same files, at an origin of their own. */
  otherOrigin: string;
}

/** @param server its URL, with whatever path it has */
export async function startElsewhere(server: string): Promise<Elsewhere> {
  const { host, origin: asked } = new URL(server);
  const policy = `default-src 'self'; connect-src ${asked} ws://${host}; img-src 'self' data: blob:; base-uri 'none'`;
  const files = createServer((request, answer) => {
    const name = request.url === '/' ? 'index.html' : (request.url ?? '');
    readFile(join(DIST, name)).then(
      (content) => {
        const type = TYPES[extname(name)] ?? 'application/octet-stream';
        answer.writeHead(200, { 'content-type': type, 'content-security-policy': policy });
        answer.end(name === 'index.html' ? naming(content.toString(), server) : content);
      },
      () => answer.writeHead(404).end(),
    );
  });
  files.listen(0);
  await once(files, 'listening');
  const { port } = files.address() as AddressInfo;
  return {
    origin: `http://localhost:${port}`,
    otherOrigin: `http://pixir.localhost:${port}`,
    async [Symbol.asyncDispose]() {
      files.close();
      files.closeAllConnections();
      await once(files, 'close');
    },
  };
}

function naming(page: string, server: string): string {
  const empty = '<meta name="pixir-server" content="">';
  if (!page.includes(empty)) throw new Error('the page has no place for the name of its server');
  return page.replace(empty, `<meta name="pixir-server" content="${server}">`);
}
