/**
 * One client over Streamable HTTP: what it posts goes to its Peer in the order in which it arrived, and what the Peer
 * says goes onto its event streams. It must never be handed a request of anybody but the principal that opened it.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Incoming, RequestId } from '../acp/jsonrpc.ts';
import type { OpenPeer, Receiver, Transport } from '../acp/transport.ts';
import type { Clock } from '../core/clock.ts';
import type { Principal } from '../core/principal.ts';
import type { Credential } from './carriers.ts';
import { closeWithCredential } from './credential-watch.ts';
import { createInbox, type Inbox } from './inbox.ts';
import { Streams } from './streams.ts';

/** The codes with which a WebSocket would be closed; here only the log is told. */
const IDLE = 1001;
const CREDENTIAL_GONE = 4401;
const TOO_MANY_MESSAGES = 4429;
const SERVER_FAULT = 4500;

/** A client that listens to nothing for so long does not come back to this connection. */
const IDLE_MS = 60_000;
/** So much time there is to take what was said before the end. */
const GOODBYE_MS = 2_000;

export interface HttpConnectionOptions {
  openPeer: OpenPeer;
  credential: Credential;
  clock: Clock;
  maxMessagesPerSecond: number;
  onFault(error: unknown): void;
  /** Called once, with the reason as a close code. */
  onEnd(code: number): void;
}

/** An HTTP status, and the limit that a 429 is about. */
export interface Outcome {
  status: number;
  limit?: string;
}

export class HttpConnection {
  readonly principal: Principal;
  readonly #options: HttpConnectionOptions;
  readonly #streams: Streams;
  readonly #inbox: Inbox;
  #receiver: Receiver | undefined;
  readonly #ended = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  readonly #stopChecking: () => void;
  /** Stops what runs by the clock: the wait for somebody who listens, and after the end the wait for those who do. */
  #stopTimer = () => {};
  #isEnded = false;

  constructor(options: HttpConnectionOptions) {
    const { credential, clock, maxMessagesPerSecond } = options;
    this.#options = options;
    this.principal = credential.principal;
    this.#streams = new Streams(clock, () => this.#streamClosed());
    this.#stopChecking = closeWithCredential(credential, clock, () => {
      this.close(CREDENTIAL_GONE);
      return () => {};
    });
    this.#inbox = createInbox({
      clock,
      maxMessagesPerSecond,
      receive: (text) => this.#receive(text),
      onRelentless: () => this.close(TOO_MANY_MESSAGES),
    });
  }

  /** Opens the Peer and hands over the first message. @returns the answer; undefined when the connection ended before. */
  async initialize(id: RequestId, text: string): Promise<string | undefined> {
    this.#receiver = this.#guarded(() => this.#options.openPeer(this.#transport(), this.principal));
    this.#streamClosed();
    const answer = Promise.withResolvers<string>();
    this.#streams.expect(id, answer.resolve);
    void this.#inbox.put(text);
    return (await Promise.race([answer.promise, this.#ended.promise])) ?? undefined;
  }

  /** @param sessionId the Session that the request names beside its body. */
  async post(message: Incoming, text: string, sessionId: string | undefined): Promise<Outcome> {
    const about = this.#sessionOf(message);
    if (about !== undefined && about !== sessionId) return { status: 400 };
    if (message.type === 'request') {
      const limit = this.#streams.full(sessionId);
      if (limit) return { status: 429, limit };
      this.#expect(message, sessionId);
    } else if ('id' in message) {
      this.#streams.settle(message.id);
    }
    return { status: (await this.#inbox.put(text)) ? 202 : 404 };
  }

  /** Opens an event stream; `begin` starts the response, and is called only when there is something to go on with. */
  async listen(
    begin: () => ServerResponse,
    sessionId: string | undefined,
    lastEventId: string | undefined,
  ): Promise<Outcome> {
    if (!this.#streams.hasRoomFor(sessionId)) return { status: 429, limit: 'sessions_of_a_connection' };
    const stream = this.#streams.of(sessionId);
    if (stream.open(begin, lastEventId)) {
      this.#stopTimer();
      return { status: 200 };
    }
    // All or reset: who cannot be given everything is detached, and comes back as over a new connection.
    if (sessionId !== undefined && !stream.isOpen) await this.#reset(sessionId);
    return { status: 409 };
  }

  draining(): void {
    this.#guarded(() => this.#receiver?.draining());
  }

  close(code: number): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#ended.resolve();
    this.#stopChecking();
    this.#inbox.end();
    this.#guarded(() => this.#receiver?.closed());
    this.#stopTimer();
    this.#stopTimer = this.#options.clock.after(GOODBYE_MS, () => this.cut());
    this.#streams.end();
    this.#streamClosed();
    this.#options.onEnd(code);
  }

  /** Drops what a client that does not read still holds open. */
  cut(): void {
    this.#streams.destroy();
  }

  /** Resolves when nothing is left of it. */
  gone(): Promise<void> {
    return this.#gone.promise;
  }

  #transport(): Transport {
    const streams = this.#streams;
    return {
      send: (text) => (this.#isEnded ? undefined : streams.send(text)),
      close: (code) => this.close(code),
      get bufferedAmount() {
        return streams.unsent;
      },
      onDrain: (callback) => streams.onDrain(callback),
    };
  }

  #streamClosed(): void {
    if (this.#streams.isAnyOpen) return;
    this.#stopTimer();
    if (this.#isEnded) this.#gone.resolve();
    else this.#stopTimer = this.#options.clock.after(IDLE_MS, () => this.close(IDLE));
  }

  #sessionOf(message: Incoming): string | undefined {
    switch (message.type) {
      case 'request':
      case 'notification': {
        const { sessionId } = message.params as { sessionId?: unknown };
        return typeof sessionId === 'string' ? sessionId : undefined;
      }
      case 'response':
      case 'error_response':
        return this.#streams.questionAbout(message.id);
      case 'invalid':
      case 'ignored':
        return undefined;
    }
  }

  /** Remembers on which stream the answer goes: behind all updates of its Session, where somebody reads them. */
  #expect({ id, method }: Extract<Incoming, { type: 'request' }>, sessionId: string | undefined): void {
    const stream = this.#streams.of(sessionId);
    this.#streams.expect(id, (text) => {
      const elsewhere = method === 'session/load' && !stream.isOpen;
      (elsewhere ? this.#streams.of(undefined) : stream).send(text);
    });
  }

  /** Detaches the client from a Session in which it has lost its place, as it could itself. */
  async #reset(sessionId: string): Promise<void> {
    const id = randomUUID();
    const detached = Promise.withResolvers<void>();
    this.#streams.expect(id, (_text, { error }) => {
      // Refused, it is attached still: then the next attempt to listen resets it.
      if (error?.data?.reason !== 'limit_exceeded') this.#streams.of(sessionId).forget();
      detached.resolve();
    });
    this.#receive(JSON.stringify({ jsonrpc: '2.0', id, method: '_pixir/session/detach', params: { sessionId } }));
    await Promise.race([detached.promise, this.#ended.promise]);
  }

  #receive(text: string): void {
    this.#guarded(() => this.#receiver?.receive(text));
  }

  /** What a Peer throws is a defect: it costs this connection, never the process. */
  #guarded<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      this.#options.onFault(error);
      this.close(SERVER_FAULT);
      return undefined;
    }
  }
}
