/** The HTTP server itself: its limits, its TLS, what it says of errors. It must never tell a client more than a status. */
import type { Duplex } from 'node:stream';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { isUpgrade, loggedPath } from './headers.ts';
import type { Logger } from './logger.ts';

// As an import of an ES module it would load all of undici, at 30 ms and 16 MiB a start.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** Sent with every answer: nothing here is for other sites, frames or caches. */
export const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** PEM texts. */
export interface Tls {
  cert: string;
  key: string;
}

export interface HttpOptions {
  logger: Logger;
  tls: Tls | undefined;
  /** How long the headers of a request may take, in milliseconds. */
  headersTimeoutMs?: number | undefined;
}

const BODY_LIMIT_BYTES = 64 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_HEADER_BYTES = 16 * 1024;

export function createHttpServer({ logger, tls, headersTimeoutMs = HEADERS_TIMEOUT_MS }: HttpOptions): FastifyInstance {
  const limits = {
    headersTimeout: headersTimeoutMs,
    // How often the timeouts are looked at: with Node's own 30 s they would be four times as long.
    connectionsCheckingInterval: Math.min(1_000, headersTimeoutMs),
    maxHeaderSize: MAX_HEADER_BYTES,
    // A missing Host is for admission to judge, like every other one.
    requireHostHeader: false,
    shouldUpgradeCallback: isUpgrade,
  };
  const app = fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Clients that hold a plain HTTP connection open must not hold up a shutdown.
    forceCloseConnections: true,
    // Fastify answers a path that it cannot decode before any hook runs, and with the path in the answer.
    frameworkErrors: (_error: unknown, _request: unknown, reply: FastifyReply) => refuse(reply, 400),
    clientErrorHandler: endBroken,
    ...(tls
      ? { https: { ...limits, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: headersTimeoutMs } }
      : { http: limits }),
  } as Parameters<typeof fastify>[0]) as unknown as FastifyInstance;

  // What is read is JSON; whatever else a request carries, admission has refused.
  app.removeContentTypeParser('text/plain');
  app.setNotFoundHandler((_request, reply) => refuse(reply, 404));
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const { statusCode = 500 } = error;
    const status = statusCode >= 400 && statusCode < 500 ? statusCode : 500;
    if (status === 500)
      logger.error({ err: error, method: request.method, path: loggedPath(request.raw) }, 'request failed');
    return refuse(reply, status);
  });
  return app;
}

/** An answer that says its status and nothing else. */
export function refuse(reply: FastifyReply, status: number): FastifyReply {
  return reply.headers(SECURITY_HEADERS).code(status).send(problem(status));
}

/** The same where there is no reply to send it by: to an upgrade, and to what is no request. */
export function answerRaw(
  socket: Duplex,
  status: number,
  headers: Record<string, string> = {},
  more: object = {},
): void {
  const body = JSON.stringify({ ...problem(status), ...more });
  const type = { 'content-type': 'application/json; charset=utf-8', 'content-length': `${Buffer.byteLength(body)}` };
  const all = Object.entries({ connection: 'close', ...SECURITY_HEADERS, ...type, ...headers });
  const lines = [
    `HTTP/1.1 ${status} ${statusText(status)}`,
    ...all.map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(lines.join('\r\n'));
}

/** What comes in is no request, or took too long to become one. */
function endBroken({ code = '' }: Error & { code?: string }, socket: Duplex): void {
  // Who has not shaken hands, or is gone, can be told nothing.
  if (!/^(HPE|ERR_HTTP)_/.test(code)) socket.destroy();
  else answerRaw(socket, { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }[code] ?? 400);
}

function problem(status: number): { error: string } {
  return { error: statusText(status).toLowerCase() };
}

function statusText(status: number): string {
  return STATUS_CODES[status] ?? 'Error';
}
