/**
 * Our requests to one client, and its answers to them. Each is settled exactly once, by the client's answer or by the
 * end of the connection; what an answer means is for whoever asked.
 */
import type * as z from 'zod';
import type { Clock } from '../core/clock.ts';
import { CoreError } from '../core/errors.ts';
import { encodeNotification, encodeRequest, type RequestId } from './jsonrpc.ts';

export type Reply = { type: 'response'; result: unknown } | { type: 'error_response' } | { type: 'gone' };

type Settle = (reply: Reply) => void;

interface Call<T> {
  schema: z.ZodType<T>;
  signal?: AbortSignal;
  timeoutMs?: number;
  /** Hears of the answer that comes after we have given up on it. */
  late?: Settle;
}

export class ClientRequests {
  readonly #clock: Clock;
  readonly #send: (frame: string) => void;
  readonly #waiting = new Map<number, Settle>();
  #lastId = 0;
  #ended = false;

  constructor(clock: Clock, send: (frame: string) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /**
   * The returned function withdraws the question; once it is settled, that does nothing. A client may answer what was
   * withdrawn: `late` hears of that.
   */
  ask(method: string, params: unknown, settle: Settle): (late?: Settle) => void {
    this.#lastId -= 1;
    const id = this.#lastId;
    this.#waiting.set(id, settle);
    this.#send(encodeRequest(id, method, params));
    return (late) => {
      if (!this.#waiting.delete(id)) return;
      if (late) this.#waiting.set(id, late);
      this.#send(encodeNotification('$/cancel_request', { requestId: id }));
    };
  }

  /**
   * Asks and waits for the answer. What is given up on is withdrawn.
   *
   * @throws the signal's reason; CoreError `client_refused`, `timeout`, `outcome_unknown`.
   */
  async call<T>(method: string, params: unknown, { schema, signal, timeoutMs, late }: Call<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#ended) throw new CoreError('client_refused', 'the client is not connected any more');
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const withdraw = this.ask(method, params, resolve);
    // Withdrawn in the same tick: an answer that comes in the next one is late already.
    const giveUp = (reason: unknown) => {
      withdraw(late);
      reject(reason);
    };
    const onAbort = () => giveUp(signal?.reason);
    const onTimeout = () => giveUp(new CoreError('timeout', 'the client did not answer in time'));
    signal?.addEventListener('abort', onAbort);
    const stopTimer = timeoutMs === undefined ? undefined : this.#clock.after(timeoutMs, onTimeout);
    try {
      return read(await promise, schema);
    } finally {
      stopTimer?.();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** The client has answered; whatever was not asked, or is settled, is ignored. */
  settle(id: RequestId, reply: Reply): void {
    // Ids are compared with their type: "-1" is not the answer to -1.
    if (typeof id !== 'number') return;
    const settle = this.#waiting.get(id);
    this.#waiting.delete(id);
    settle?.(reply);
  }

  /** The connection has gone: nothing is answered any more. */
  end(): void {
    this.#ended = true;
    const settles = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const settle of settles) settle({ type: 'gone' });
  }
}

function read<T>(reply: Reply, schema: z.ZodType<T>): T {
  switch (reply.type) {
    case 'gone':
      throw new CoreError('outcome_unknown', 'the connection to the client ended');
    case 'error_response':
      throw new CoreError('client_refused', 'the client refused');
    case 'response': {
      const parsed = schema.safeParse(reply.result);
      if (!parsed.success) throw new CoreError('outcome_unknown', 'the answer of the client cannot be read');
      return parsed.data;
    }
  }
}
