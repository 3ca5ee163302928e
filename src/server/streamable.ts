/**
 * ACP over Streamable HTTP, at the same path as the WebSocket: a client posts its messages and reads the answers from
 * event streams. It must never look further into a message than to see where it belongs.
 */
import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { decode, encodeError, type RequestId } from '../acp/jsonrpc.ts';
import type { OpenPeer } from '../acp/transport.ts';
import type { Clock } from '../core/clock.ts';
import { type Admitted, credentialOf } from './admission.ts';
import type { Credential } from './carriers.ts';
import { only } from './headers.ts';
import { refuse } from './http.ts';
import { HttpConnection, type Outcome } from './http-connection.ts';
import type { Logger } from './logger.ts';
import { createPlaces, type Places } from './places.ts';
import { ACP_PATH } from './routes.ts';
import type { EndpointLimits } from './websocket.ts';

const CONNECTION_ID = 'acp-connection-id';
const SESSION_ID = 'acp-session-id';
const MAX_SESSION_ID_LENGTH = 256;

/** The close codes of a WebSocket; here only the log is told. */
const DELETED = 1000;
const RESTARTING = 1012;

export interface StreamableOptions {
  /** Where a request came from, proxies taken into account; for the log. */
  clientAddress(request: IncomingMessage): string;
  openPeer: OpenPeer;
  /** What admission found out about a request. */
  admitted(request: FastifyRequest): Admitted;
  logger: Logger;
  clock: Clock;
  limits: EndpointLimits;
  /** Shared with the other transports. */
  places: Places;
}

export interface Streamable {
  /** How many clients are connected. */
  connections(): number;
  /** Tells the clients to come back, ends their streams, and cuts those that are still read after `graceMs`. */
  closeGracefully(graceMs: number): Promise<void>;
}

export function registerStreamable(app: FastifyInstance, options: StreamableOptions): Streamable {
  const { admitted, limits, clock } = options;
  const connections = createConnections(options);
  /** Bodies that are being read: no more of them than WebSockets could hold. */
  const reading = createPlaces(limits);

  app.register((scope, _options, done) => {
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.route({
      method: 'POST',
      url: ACP_PATH,
      bodyLimit: limits.maxFrameBytes,
      onRequest: async (request, reply) => {
        const { owner } = credential(request).principal;
        const limit = reading.full(owner);
        if (limit) return tooMany(reply, limit);
        reply.raw.once('close', reading.take(owner));
      },
      handler: (request, reply) => post(connections, credential(request), request, reply),
    });
    scope.get(ACP_PATH, (request, reply) => listen(connections, credential(request), request, reply));
    scope.delete(ACP_PATH, async (request, reply) => {
      const connection = connections.find(request, credential(request));
      if (typeof connection === 'number') return refuse(reply, connection);
      connection.close(DELETED);
      return reply.code(202).send();
    });
    done();
  });

  function credential(request: FastifyRequest): Credential {
    const found = credentialOf(admitted(request));
    if (!found) throw new Error('a request without a credential passed admission by');
    return found;
  }

  return {
    connections: connections.count,
    async closeGracefully(graceMs) {
      const open = connections.all();
      const cancel = clock.after(graceMs, () => {
        for (const connection of open) connection.cut();
      });
      for (const connection of open) {
        connection.draining();
        connection.close(RESTARTING);
      }
      await Promise.all(open.map((connection) => connection.gone()));
      cancel();
    },
  };
}

type Connections = ReturnType<typeof createConnections>;

function createConnections(options: StreamableOptions) {
  const { openPeer, clientAddress, logger, clock, limits, places } = options;
  const byId = new Map<string, HttpConnection>();
  return {
    count: () => byId.size,
    all: () => [...byId.values()],

    /** The connection that a request names; the status of the refusal where there is none of its own. */
    find({ raw }: FastifyRequest, { principal }: Credential): HttpConnection | 400 | 404 {
      const id = only(raw, CONNECTION_ID);
      if (id === undefined) return 400;
      const connection = byId.get(id);
      // That of somebody else is answered like an unknown one.
      return connection && isDeepStrictEqual(connection.principal, principal) ? connection : 404;
    },

    /** @returns the limit that keeps this client out, or its connection. */
    open(credential: Credential, request: IncomingMessage): string | { id: string; connection: HttpConnection } {
      const { name, owner } = credential.principal;
      const remoteAddress = clientAddress(request);
      const limit = places.full(owner);
      if (limit) {
        logger.warn({ limit, principal: name, owner, remoteAddress }, 'client refused');
        return limit;
      }
      const leave = places.take(owner);
      // Whoever knows it still needs the credential; nobody guesses 144 bits.
      const id = randomBytes(18).toString('base64url');
      const connection = new HttpConnection({
        openPeer,
        credential,
        clock,
        maxMessagesPerSecond: limits.maxMessagesPerSecond,
        onFault: (error) => logger.error({ connectionId: id, err: error }, 'connection failed'),
        onEnd(code) {
          byId.delete(id);
          leave();
          logger.info({ connectionId: id, code }, 'client disconnected');
        },
      });
      byId.set(id, connection);
      logger.info({ connectionId: id, principal: name, owner, remoteAddress }, 'client connected');
      return { id, connection };
    },
  };
}

async function post(connections: Connections, credential: Credential, request: FastifyRequest, reply: FastifyReply) {
  const { raw, body } = request;
  // What is no UTF-8 would be read as something that nobody wrote.
  if (!Buffer.isBuffer(body) || !isUtf8(body)) return refuse(reply, 400);
  const text = body.toString();
  const message = decode(text);
  // Without an id it belongs to no stream.
  if (message.type === 'invalid') return sendJson(reply.code(400), encodeError(null, message.error));
  if (raw.headers[CONNECTION_ID] === undefined && message.type === 'request' && message.method === 'initialize')
    return initialize(connections, credential, message.id, text, reply);

  const connection = connections.find(request, credential);
  if (typeof connection === 'number') return refuse(reply, connection);
  if (!namesAtMostOneSession(request)) return refuse(reply, 400);
  return conclude(reply, await connection.post(message, text, only(raw, SESSION_ID)));
}

async function initialize(
  connections: Connections,
  credential: Credential,
  id: RequestId,
  text: string,
  reply: FastifyReply,
) {
  const opened = connections.open(credential, reply.request.raw);
  if (typeof opened === 'string') return tooMany(reply, opened);
  const answer = await opened.connection.initialize(id, text);
  return answer === undefined ? refuse(reply, 503) : sendJson(reply.header(CONNECTION_ID, opened.id), answer);
}

async function listen(connections: Connections, credential: Credential, request: FastifyRequest, reply: FastifyReply) {
  const { method, headers } = request.raw;
  const wantsEvents = headers.accept?.toLowerCase().includes('text/event-stream') ?? false;
  // This is also how a client finds out whether it would be let in.
  if (method === 'HEAD' || (!wantsEvents && headers[CONNECTION_ID] === undefined))
    return refuse(reply.header('upgrade', 'websocket'), 426);
  if (!wantsEvents) return refuse(reply, 406);
  const connection = connections.find(request, credential);
  if (typeof connection === 'number') return refuse(reply, connection);
  if (!namesAtMostOneSession(request)) return refuse(reply, 400);
  const lastEventId = headers['last-event-id'];
  const session = only(request.raw, SESSION_ID);
  const outcome = await connection.listen(() => begin(reply), session, lastEventId && String(lastEventId));
  return outcome.status === 200 ? reply : conclude(reply, outcome);
}

function begin(reply: FastifyReply): ServerResponse {
  reply.hijack();
  // A proxy that collected events before it passed them on would make a conversation stutter.
  const own = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
  reply.raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...own });
  reply.raw.flushHeaders();
  return reply.raw;
}

function namesAtMostOneSession({ raw }: FastifyRequest): boolean {
  if (raw.headers[SESSION_ID] === undefined) return true;
  const id = only(raw, SESSION_ID);
  return id !== undefined && id !== '' && id.length <= MAX_SESSION_ID_LENGTH;
}

function conclude(reply: FastifyReply, { status, limit }: Outcome): FastifyReply {
  if (limit) return tooMany(reply, limit);
  return status === 202 ? reply.code(202).send() : refuse(reply, status);
}

function tooMany(reply: FastifyReply, limit: string): FastifyReply {
  return reply.code(429).header('retry-after', 5).send({ error: 'too many requests', limit });
}

function sendJson(reply: FastifyReply, json: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(json);
}
