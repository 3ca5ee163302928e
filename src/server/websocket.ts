/**
 * ACP over WebSocket: one connection per client, one message per text frame. It must never look into a message, and
 * never be handed a request that admission has not let in.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { LOW_WATER, type OpenPeer, type Receiver, type Transport } from '../acp/transport.ts';
import type { Clock } from '../core/clock.ts';
import type { Credential } from './carriers.ts';
import { closeWithCredential } from './credential-watch.ts';
import { answerRaw } from './http.ts';
import type { Logger } from './logger.ts';
import { createPlaces, type PlaceLimits, type Places } from './places.ts';
import { throttle } from './throttle.ts';

/** The close codes this file uses; interface.md lists what each tells the client. */
const RESTARTING = 1012;
const PROTOCOL_ERROR = 4400;
const CREDENTIAL_GONE = 4401;
const TOO_MANY_MESSAGES = 4429;
const SERVER_FAULT = 4500;

const PING_EVERY_MS = 15_000;
const UNANSWERED_PINGS = 3;
const GOODBYE_MS = 2_000;

/** Tiny fragments of a message, and tiny packets of a frame, cost far more memory than their bytes. */
const MAX_FRAGMENTS = 1_024;
/** Enough for the largest frame in packets of 512 bytes. */
const MAX_PACKETS = 32 * 1_024;

export interface EndpointLimits extends PlaceLimits {
  /** The largest message a client may send; beyond it the connection ends with 1009. */
  maxFrameBytes: number;
  /** Messages of one connection; what comes faster is read more slowly. */
  maxMessagesPerSecond: number;
}

export interface AcpEndpointOptions {
  /** Where a request came from, proxies taken into account; for the log. */
  clientAddress(request: IncomingMessage): string;
  openPeer: OpenPeer;
  logger: Logger;
  clock: Clock;
  limits: EndpointLimits;
  /** Those that this transport shares with others. */
  places?: Places;
}

export interface AcpEndpoint {
  /** Completes the handshake of an admitted client. Answers 4xx by itself where it is malformed or one too many. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, credential: Credential): void;
  /** How many clients are connected. */
  connections(): number;
  /** Refuses new clients, tells the connected ones to come back, and cuts those still there after `graceMs`. */
  closeGracefully(graceMs: number): Promise<void>;
}

export function createAcpEndpoint(options: AcpEndpointOptions): AcpEndpoint {
  const { openPeer, logger, clock, limits, places = createPlaces(options.limits) } = options;
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: limits.maxFrameBytes,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_PACKETS,
    // ws would echo whatever comes first, be it a secret that a client put there.
    handleProtocols: (offered) => (offered.has('acp.v1') ? 'acp.v1' : false),
  });

  const ids = new WeakMap<IncomingMessage, string>();
  const receivers = new Map<WebSocket, Receiver>();
  server.on('headers', (headers, request) => headers.push(`Acp-Connection-Id: ${ids.get(request)}`));

  return {
    accept(request, socket, head, credential) {
      const { principal } = credential;
      const { name, owner } = principal;
      const remoteAddress = options.clientAddress(request);
      const limit = places.full(owner);
      if (limit) {
        logger.warn({ limit, principal: name, owner, remoteAddress }, 'client refused');
        // In place of the 101: a close code comes too late, because whoever reads it has been let in.
        answerRaw(socket, 429, { 'retry-after': '5' }, { limit });
        return;
      }
      const connectionId = randomUUID();
      ids.set(request, connectionId);
      server.handleUpgrade(request, socket, head, (ws) => {
        const leave = places.take(owner);
        logger.info({ connectionId, principal: name, owner, remoteAddress }, 'client connected');
        const stopChecking = closeWithCredential(credential, clock, () => {
          logger.info({ connectionId, principal: name }, 'the credential was revoked or has expired');
          return sendAway(ws, CREDENTIAL_GONE, 'credential revoked or expired', clock);
        });
        const receiver = connect(
          { ws, socket: request.socket, openPeer: (transport) => openPeer(transport, principal), clock, limits },
          (error) => logger.error({ connectionId, err: error }, 'connection failed'),
        );
        if (receiver) receivers.set(ws, receiver);
        ws.on('close', (code) => {
          leave();
          stopChecking();
          receivers.delete(ws);
          logger.info({ connectionId, code }, 'client disconnected');
        });
      });
    },

    connections: () => server.clients.size,

    closeGracefully(graceMs) {
      return new Promise((resolve) => {
        const cancel = clock.after(graceMs, () => {
          for (const ws of server.clients) ws.terminate();
        });
        server.close(() => {
          cancel();
          resolve();
        });
        for (const ws of server.clients) {
          receivers.get(ws)?.draining();
          ws.close(RESTARTING, 'restarting');
        }
      });
    },
  };
}

interface Connection {
  ws: WebSocket;
  socket: Socket;
  openPeer: (transport: Transport) => Receiver;
  clock: Clock;
  limits: EndpointLimits;
}

/** Ties one open socket to its Peer. What a Peer throws is a defect: it costs this connection, never the process. */
function connect(
  { ws, socket, openPeer, clock, limits }: Connection,
  onFault: (error: unknown) => void,
): Receiver | undefined {
  const guarded = <T>(action: () => T): T | undefined => {
    try {
      return action();
    } catch (error) {
      onFault(error);
      ws.close(SERVER_FAULT, 'server fault');
      return undefined;
    }
  };

  const receiver = guarded(() => openPeer(createTransport(ws, socket)));
  const stopPinging = keepAlive(ws, socket, clock);
  const pace = throttle({
    source: ws,
    perSecond: limits.maxMessagesPerSecond,
    clock,
    onRelentless: () => sendAway(ws, TOO_MANY_MESSAGES, 'too many messages', clock),
  });

  ws.on('message', (data, isBinary) => {
    // Frames go on arriving while the closing handshake runs; the Peer has said that it wants no more.
    if (ws.readyState !== WebSocket.OPEN) return;
    pace.count();
    if (isBinary) ws.close(PROTOCOL_ERROR, 'text frames only');
    else guarded(() => receiver?.receive(data.toString()));
  });
  // Each is answered, which is work as well.
  ws.on('ping', pace.count);
  // ws closes the connection itself, with the fitting code, and always reports 'close' after an error.
  ws.on('error', () => undefined);
  ws.on('close', () => {
    stopPinging();
    pace.end();
    guarded(() => receiver?.closed());
  });
  return receiver;
}

/**
 * Frames of one tick leave in one system call: the socket is corked by the first and uncorked when the tick ends,
 * which is several times faster than a call per frame.
 */
function createTransport(ws: WebSocket, socket: Socket): Transport {
  let corked = false;
  let drained = () => {};

  const uncork = () => {
    corked = false;
    socket.uncork();
  };
  const written = (error?: Error | null) => {
    if (!error && ws.bufferedAmount < LOW_WATER) drained();
  };

  return {
    send(text) {
      if (ws.readyState !== WebSocket.OPEN) return;
      const frame = bytesOf(text);
      if (corked) {
        ws.send(frame, TEXT);
        return;
      }
      corked = true;
      socket.cork();
      process.nextTick(uncork);
      // One callback a tick is enough: what is corked together is written together.
      ws.send(frame, TEXT, written);
    },
    close: (code, reason) => ws.close(code, reason),
    get bufferedAmount() {
      return ws.bufferedAmount;
    },
    onDrain(callback) {
      drained = callback;
    },
  };
}

const TEXT = { binary: false };
let lastText = '';
let lastBytes = Buffer.alloc(0);

/** One frame goes to many clients in a row: its bytes are made once. */
function bytesOf(text: string): Buffer {
  if (text !== lastText) {
    lastText = text;
    lastBytes = Buffer.from(text);
  }
  return lastBytes;
}

/**
 * Pings until told to stop, and cuts a connection that left several pings in a row without a single byte in return.
 * It counts pings instead of reading a clock, so a computer that wakes from sleep does not drop everyone at once.
 */
function keepAlive(ws: WebSocket, socket: Socket, clock: Clock): () => void {
  let received = socket.bytesRead;
  let unanswered = 0;
  const beat = () => {
    if (socket.bytesRead !== received) {
      received = socket.bytesRead;
      unanswered = 0;
    }
    if (unanswered === UNANSWERED_PINGS) {
      ws.terminate();
      return;
    }
    unanswered += 1;
    ws.ping();
    cancel = clock.after(jittered(PING_EVERY_MS), beat);
  };
  let cancel = clock.after(jittered(PING_EVERY_MS), beat);
  return () => cancel();
}

/** Closes the connection, and cuts it if that is not answered. @returns what calls the cut off. */
function sendAway(ws: WebSocket, code: number, reason: string, clock: Clock): () => void {
  ws.close(code, reason);
  return clock.after(GOODBYE_MS, () => ws.terminate());
}

/** Spreads the pings of clients that connected in the same moment, as they do after a restart. */
function jittered(ms: number): number {
  return ms * (0.9 + Math.random() * 0.2);
}
