/**
 * Sorts what a Peer sends onto the event streams of one client: one for each Session, and one for everything else. To
 * the Peer they are one transport; it must not send faster than the slowest of them is read.
 */

import type { RequestId } from '../acp/jsonrpc.ts';
import { LOW_WATER } from '../acp/transport.ts';
import type { Clock } from '../core/clock.ts';
import { createJournal, SseStream } from './sse.ts';

/** A client names Sessions as it likes: more of them than this on one connection are not listened for. */
const MAX_STREAMS = 1_024;
const MAX_ANSWERS = 4_096;
/** Feeds stop long before; only answers can pile up so high. */
const MAX_UNSENT_BYTES = 8 * 1024 * 1024;

/** A message of the Peer, as far as its way depends on it. */
interface Outgoing {
  id?: RequestId;
  method?: string;
  params?: { sessionId?: unknown; requestId?: RequestId };
  error?: { data?: { reason?: unknown } };
}

type Deliver = (text: string, message: Outgoing) => void;

export class Streams {
  readonly #clock: Clock;
  readonly #onClose: () => void;
  readonly #journal = createJournal();
  readonly #streams = new Map<string | undefined, SseStream>();
  readonly #expected = new Map<RequestId, Deliver>();
  /** The Sessions that open questions of the Peer are about. */
  readonly #asked = new Map<RequestId, string>();
  #drained = () => {};

  /** @param onClose is called when the client no longer reads one of them. */
  constructor(clock: Clock, onClose: () => void) {
    this.#clock = clock;
    this.#onClose = onClose;
  }

  /** The stream of this Session; undefined: the one of the connection. */
  of(sessionId: string | undefined): SseStream {
    const known = this.#streams.get(sessionId);
    if (known) return known;
    const onFlush = () => {
      if (this.unsent < LOW_WATER) this.#drained();
    };
    const stream = new SseStream({ clock: this.#clock, journal: this.#journal, onFlush, onClose: this.#onClose });
    this.#streams.set(sessionId, stream);
    return stream;
  }

  send(text: string): void {
    const message = JSON.parse(text) as Outgoing;
    const { id, method } = message;
    const deliver = method === undefined && id !== undefined ? this.#expected.get(id) : undefined;
    if (id !== undefined && deliver) {
      this.#expected.delete(id);
      deliver(text, message);
    } else {
      this.of(this.#sessionOf(message)).send(text);
    }
  }

  get unsent(): number {
    let sum = 0;
    for (const stream of this.#streams.values()) sum += stream.unsent;
    return sum;
  }

  onDrain(callback: () => void): void {
    this.#drained = callback;
  }

  get isAnyOpen(): boolean {
    return [...this.#streams.values()].some(({ isOpen }) => isOpen);
  }

  hasRoomFor(sessionId: string | undefined): boolean {
    return this.#streams.size < MAX_STREAMS || this.#streams.has(sessionId);
  }

  /** The limit that one more request about this Session would exceed, if any. */
  full(sessionId: string | undefined): string | undefined {
    if (this.#expected.size >= MAX_ANSWERS) return 'requests_in_flight';
    if (!this.hasRoomFor(sessionId)) return 'sessions_of_a_connection';
    return this.unsent > MAX_UNSENT_BYTES ? 'unsent_bytes' : undefined;
  }

  /** Hands the answer to this request to `deliver`, and puts it on no stream. */
  expect(id: RequestId, deliver: Deliver): void {
    this.#expected.set(id, deliver);
  }

  /** The Session that the Peer's question with this id is about. */
  questionAbout(id: RequestId): string | undefined {
    return this.#asked.get(id);
  }

  /** That question needs no answer any more. @returns what it was about. */
  settle(id: RequestId): string | undefined {
    const sessionId = this.#asked.get(id);
    this.#asked.delete(id);
    return sessionId;
  }

  end(): void {
    for (const stream of this.#streams.values()) stream.end();
  }

  destroy(): void {
    for (const stream of this.#streams.values()) stream.destroy();
  }

  /** The Session that a request or notification of the Peer is about. */
  #sessionOf({ id, method, params: { sessionId, requestId } = {} }: Outgoing): string | undefined {
    // A question is withdrawn where it was put.
    if (method === '$/cancel_request' && requestId !== undefined) return this.settle(requestId);
    if (typeof sessionId !== 'string') return undefined;
    if (id !== undefined) this.#asked.set(id, sessionId);
    return sessionId;
  }
}
