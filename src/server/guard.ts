/**
 * Puts admission before everything: before every handler, the one for unknown paths included, and before every upgrade.
 * Whoever it refuses gets a status and never a 101.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Admit, type Admitted, credentialOf, type Verdict } from './admission.ts';
import { loggedPath, pathOf } from './headers.ts';
import { answerRaw, refuse, SECURITY_HEADERS } from './http.ts';
import type { Logger } from './logger.ts';
import { ACP_PATH, findRoute } from './routes.ts';
import type { AcpEndpoint } from './websocket.ts';

export interface Guard {
  admit: Admit;
  /** Where a request came from, proxies taken into account. */
  clientAddress(request: IncomingMessage): string;
  allowedOrigins: readonly string[];
  logger: Logger;
}

/** @returns what admission found out about a request that reached a handler. */
export function guardRequests(
  app: FastifyInstance,
  { admit, clientAddress, allowedOrigins, logger }: Guard,
): (request: FastifyRequest) => Admitted {
  const verdicts = new WeakMap<IncomingMessage, Admitted>();
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = request;
    reply.headers(SECURITY_HEADERS).headers(corsHeaders(raw, allowedOrigins));
    const verdict = admit(raw);
    switch (verdict.outcome) {
      case 'open':
      case 'allow':
        verdicts.set(raw, verdict);
        return;
      case 'preflight':
        reply.header('access-control-allow-methods', verdict.methods.join(', '));
        reply.header('access-control-allow-headers', 'authorization, content-type');
        return reply.code(204).send();
      case 'refuse':
        logger.warn(refusal(raw, verdict, clientAddress(raw)), 'request refused');
        if (verdict.status === 401) reply.header('www-authenticate', 'Bearer');
        // The rest of a refused request is not read.
        return refuse(reply.header('connection', 'close'), verdict.status);
    }
  });
  app.addHook('onResponse', async (request, reply) => {
    logger.debug({ method: request.method, path: loggedPath(request.raw), status: reply.statusCode }, 'request');
  });
  return ({ raw }) => {
    const verdict = verdicts.get(raw);
    // A handler that admission has not let anybody into is a defect, and must not run.
    if (!verdict) throw new Error('a request passed admission by');
    return verdict;
  };
}

/** Lets a page of an origin on the list read what is shared with it, refusals included. */
function corsHeaders(request: IncomingMessage, allowedOrigins: readonly string[]): Record<string, string> {
  const { origin = '', 'access-control-request-method': asked } = request.headers;
  const route = findRoute(asked ?? request.method ?? '', pathOf(request));
  if (route?.shared !== 'cors' || !allowedOrigins.includes(origin)) return {};
  return { 'access-control-allow-origin': origin, vary: 'origin' };
}

/** The same admission before every upgrade. */
export function upgrader(
  { admit, clientAddress, logger }: Guard,
  endpoint: AcpEndpoint,
): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  return (request, socket, head) => {
    // Node has let go of the socket, and an error that nobody listens to would end the process.
    socket.on('error', () => undefined);
    const verdict = admit(request);
    const credential = credentialOf(verdict);
    if (verdict.outcome === 'refuse') {
      logger.warn(refusal(request, verdict, clientAddress(request)), 'request refused');
      answerRaw(socket, verdict.status, verdict.status === 401 ? { 'www-authenticate': 'Bearer' } : {});
    } else if (!credential || pathOf(request) !== ACP_PATH) {
      answerRaw(socket, 404);
    } else {
      endpoint.accept(request, socket, head, credential);
    }
  };
}

/** What the operator is told of a request that was refused. */
function refusal(request: IncomingMessage, { reason }: Verdict & { outcome: 'refuse' }, remoteAddress: string): object {
  return { reason, path: loggedPath(request), remoteAddress };
}
