/**
 * The browser UI at `/`: the files that its build made, and no others. It lists them with every page that it gives out, so
 * that no path of a request is ever looked up on disk.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { only } from './headers.ts';
import { refuse } from './http.ts';

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** Made beside the files by the build, best first. */
const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
];

/**
 * Nothing of another origin, no inline script, no inline style. Images may be data: those of a prompt are. The answers to
 * `fetch` of pages elsewhere are CORS's business.
 */
const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A name with the hash of its content never means anything else. */
const FOR_EVER = /-[\w-]{8}\.\w+$/;

/** @param directory of the build, if there is one. */
export async function registerUi(app: FastifyInstance, directory = ''): Promise<void> {
  let names = await namesIn(directory);

  app.get('/', async (request, reply) => {
    // It may have been built anew.
    names = await namesIn(directory);
    if (!names.has('index.html')) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
    return send(request, reply.header('content-security-policy', PAGE_CSP), 'index.html');
  });
  app.get('/sw.js', (request, reply) => send(request, reply, 'sw.js'));
  app.get<{ Params: { file: string } }>('/assets/:file', (request, reply) =>
    send(request, reply, `assets/${request.params.file}`),
  );

  async function send(request: FastifyRequest, reply: FastifyReply, name: string): Promise<FastifyReply> {
    const type = TYPES[extname(name)];
    if (!names.has(name) || type === undefined) return refuse(reply, 404);
    const accepted = only(request.raw, 'accept-encoding')?.split(/ *, */) ?? [];
    const encoding = ENCODINGS.find(
      ({ name: coding, suffix }) => accepted.includes(coding) && names.has(name + suffix),
    );
    if (encoding) reply.header('content-encoding', encoding.name);
    if (FOR_EVER.test(name)) reply.header('cache-control', 'public, max-age=31536000, immutable');
    reply.header('vary', 'accept-encoding').type(type);
    return reply.send(await readFile(join(directory, name + (encoding?.suffix ?? ''))));
  }
}

const NOT_BUILT = 'The browser UI is not built. In a checkout: npm run build:web\n';

async function namesIn(directory: string): Promise<Set<string>> {
  const entries = directory === '' ? [] : await readdir(directory, { recursive: true }).catch(() => []);
  return new Set(entries.map((name) => name.replaceAll('\\', '/')));
}
