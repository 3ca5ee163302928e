/**
 * The HTTP server: admission in front of everything, a few small routes, and the door to ACP. It must never run a
 * handler for a request that admission refused, and never tell a client more of an error than its status.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import type { OpenPeer } from '../acp/transport.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { type AdmissionOptions, createAdmission, pathOf, type Verdict } from './admission.ts';
import { registerHealth } from './health.ts';
import type { Logger } from './logger.ts';
import { registerMetrics } from './metrics.ts';
import { type AcpEndpoint, createAcpEndpoint, MAX_FRAME_BYTES } from './websocket.ts';

// As an import of an ES module it would load all of undici, at 30 ms and 16 MiB a start.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

const ACP_PATH = '/acp';
const OPEN_PATHS = ['/', '/healthz', '/readyz'];

const BODY_LIMIT_BYTES = 64 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const SHUTDOWN_GRACE_MS = 5_000;

/** Sent with every answer: nothing here is for other sites, frames or caches. */
const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const WELCOME = `Pixir is an agent server. It speaks the Agent Client Protocol (ACP) over WebSocket.

Connect an ACP client to the path ${ACP_PATH} of this server with the header

  Authorization: Bearer <token>

The token is in the file "token" of the server's data directory, unless it was configured otherwise.
`;

export interface AppOptions {
  openPeer: OpenPeer;
  /** Says who presents this bearer token, in constant time; undefined when nobody known does. */
  authenticate: AdmissionOptions['authenticate'];
  /** Whether the server can do its work now. */
  readiness: () => boolean | Promise<boolean>;
  logger: Logger;
  /** The name or address the server is told to listen on; clients may use it, as they may the loopback names. */
  listenHost?: string;
  /** Further Host headers to accept, exactly as they arrive: a proxy's name, say. */
  allowedHosts?: readonly string[];
  /** Origins of browser pages to accept beside the server's own. */
  allowedOrigins?: readonly string[];
  maxFrameBytes?: number;
  /** How long closing waits for clients to say goodbye. */
  shutdownGraceMs?: number;
  clock?: Clock;
}

/** Builds the server without listening. Its `close()` is the graceful one: clients are told to come back. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { logger } = options;
  const admit = createAdmission({
    authenticate: options.authenticate,
    listenHost: options.listenHost ?? 'localhost',
    allowedHosts: options.allowedHosts ?? [],
    allowedOrigins: options.allowedOrigins ?? [],
    openPaths: OPEN_PATHS,
  });
  const endpoint = createAcpEndpoint({
    openPeer: options.openPeer,
    logger,
    clock: options.clock ?? systemClock,
    maxFrameBytes: options.maxFrameBytes ?? MAX_FRAME_BYTES,
  });

  const app = createServer(logger);
  guard(app, admit, logger);
  app.server.on('upgrade', upgrader(admit, endpoint, logger));
  app.addHook('preClose', () => endpoint.closeGracefully(options.shutdownGraceMs ?? SHUTDOWN_GRACE_MS));

  app.get('/', (_request, reply) => reply.type('text/plain; charset=utf-8').send(WELCOME));
  app.get(ACP_PATH, (_request, reply) => reply.header('upgrade', 'websocket').code(426).send(problem(426)));
  registerHealth(app, options.readiness, logger);
  registerMetrics(app, endpoint.connections);

  await app.ready();
  return app;
}

function createServer(logger: Logger): FastifyInstance {
  const app = fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Clients that hold a plain HTTP connection open must not hold up a shutdown.
    forceCloseConnections: true,
    // Fastify answers a path that it cannot decode before any hook runs, and with the path in the answer.
    frameworkErrors: (_error, _request, reply: FastifyReply) => reply.code(400).send(problem(400)),
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      // A missing Host is for admission to judge, like every other one.
      requireHostHeader: false,
      // Other upgrades (curl offers h2c) are requests like any other.
      shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
    },
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(problem(404)));
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const { statusCode = 500 } = error;
    const status = statusCode >= 400 && statusCode < 500 ? statusCode : 500;
    if (status === 500)
      logger.error({ err: error, method: request.method, path: logged(request.raw) }, 'request failed');
    return reply.code(status).send(problem(status));
  });
  return app;
}

/** Puts admission before every handler, the one for unknown paths included. */
function guard(app: FastifyInstance, admit: (request: IncomingMessage) => Verdict, logger: Logger): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    const verdict = admit(request.raw);
    if (verdict.outcome !== 'refuse') return;
    logRefusal(request.raw, verdict, logger);
    if (verdict.status === 401) reply.header('www-authenticate', 'Bearer');
    // The rest of a refused request is not read.
    return reply.header('connection', 'close').code(verdict.status).send(problem(verdict.status));
  });
  app.addHook('onResponse', async (request, reply) => {
    logger.debug({ method: request.method, path: logged(request.raw), status: reply.statusCode }, 'request');
  });
}

/** The same admission before every upgrade: whoever it refuses gets an HTTP answer and never a 101. */
function upgrader(admit: (request: IncomingMessage) => Verdict, endpoint: AcpEndpoint, logger: Logger) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Node has let go of the socket, and an error that nobody listens to would end the process.
    socket.on('error', () => undefined);
    const verdict = admit(request);
    if (verdict.outcome === 'refuse') {
      logRefusal(request, verdict, logger);
      refuseUpgrade(socket, verdict.status);
    } else if (verdict.outcome === 'open' || pathOf(request) !== ACP_PATH) {
      refuseUpgrade(socket, 404);
    } else {
      endpoint.accept(request, socket, head, verdict.credential);
    }
  };
}

function refuseUpgrade(socket: Duplex, status: number): void {
  const body = JSON.stringify(problem(status));
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'connection: close',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    ...(status === 401 ? ['www-authenticate: Bearer'] : []),
    '',
    body,
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(lines.join('\r\n'));
}

function logRefusal(request: IncomingMessage, verdict: Verdict & { outcome: 'refuse' }, logger: Logger): void {
  const { reason } = verdict;
  logger.warn({ reason, path: logged(request), remoteAddress: request.socket.remoteAddress }, 'request refused');
}

/** The path as the log keeps it: without the query, where people put secrets, without tokens, and not as long as a stranger likes. */
function logged(request: IncomingMessage): string {
  return pathOf(request)
    .replaceAll(/pixir_[\w-]+/g, '[token]')
    .slice(0, 200);
}

function problem(status: number): { error: string } {
  return { error: STATUS_CODES[status]?.toLowerCase() ?? 'error' };
}
