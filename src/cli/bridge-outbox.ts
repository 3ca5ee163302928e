/**
 * What an editor has asked and not been answered, in its order. A lost connection takes nothing out of it: all of it is
 * asked again on the next one. It must never say anything before what was said earlier about the same Session.
 */
import type { RequestId } from '../acp/jsonrpc.ts';
import { membersOf, pixirOf, sessionIdOf } from './bridge-frames.ts';

export interface Outgoing {
  /** Absent: a notification. */
  id?: RequestId;
  method: string;
  params: unknown;
  /** The frame. */
  text: string;
  /** It was sent on this connection. */
  sent: boolean;
  /** The requests whose answers it waits for; a notification that waits for none is forgotten when it was sent. */
  until: Set<RequestId>;
  /** Of a `session/load`: something of its replay may have been shown. */
  begun?: boolean;
  /** Of a `session/load` that goes on from a cursor: what it will be answered. */
  result?: Record<string, unknown>;
}

export interface Outbox {
  request(id: RequestId, method: string, params: unknown): Outgoing;
  notify(method: string, params: unknown): void;
  /** The request has been answered, and with it what waited for that. */
  answered(id: RequestId): Outgoing | undefined;
  /** The unanswered requests. */
  requests(): Outgoing[];
  /** A prompt with this key is not answered yet. */
  hasPrompt(promptKey: string): boolean;
  /** Sends, in order, what was not sent yet and may go now. */
  flush(mayGo: (entry: Outgoing) => boolean, send: (entry: Outgoing) => void): void;
  /** The connection has gone: nothing was sent on the next one. */
  lost(): void;
  /** Resolves when every request has been answered, or nobody waits for that any more. */
  empty(): Promise<void>;
  giveUp(): void;
}

export function createOutbox(): Outbox {
  let entries: Outgoing[] = [];
  const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<void>();
  let emptied = () => {};
  const requests = () => entries.filter(({ id }) => id !== undefined);
  const prompts = () => entries.filter(({ id, method }) => id !== undefined && method === 'session/prompt');

  /** A cancel is said again with what it cancels: on the lost connection it may not have been heard. */
  function cancels(method: string, params: unknown): RequestId[] {
    if (method === '$/cancel_request') {
      const { requestId } = membersOf(params);
      return requests().flatMap(({ id }) => (id !== undefined && id === requestId ? [id] : []));
    }
    if (method !== 'session/cancel') return [];
    const session = sessionIdOf(params);
    return prompts().flatMap((prompt) =>
      prompt.id !== undefined && sessionIdOf(prompt.params) === session ? [prompt.id] : [],
    );
  }

  return {
    requests,
    request(id, method, params) {
      const text = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      const entry = { id, method, params, text, sent: false, until: new Set([id]) };
      entries.push(entry);
      return entry;
    },
    notify(method, params) {
      const text = JSON.stringify({ jsonrpc: '2.0', method, params });
      entries.push({ method, params, text, sent: false, until: new Set(cancels(method, params)) });
    },
    answered(id) {
      const answered = entries.find((entry) => entry.id === id);
      for (const { until } of entries) until.delete(id);
      entries = entries.filter(({ sent, until }) => !sent || until.size > 0);
      if (requests().length === 0) emptied();
      return answered;
    },
    hasPrompt: (promptKey) => prompts().some(({ params }) => pixirOf(params).promptKey === promptKey),
    flush(mayGo, send) {
      // What cancels a request must not overtake it.
      const overtakes = ({ id, until }: Outgoing) =>
        id === undefined && entries.some((other) => other.id !== undefined && !other.sent && until.has(other.id));
      for (const entry of [...entries]) {
        if (entry.sent || !mayGo(entry) || overtakes(entry)) continue;
        entry.sent = true;
        send(entry);
      }
      entries = entries.filter(({ sent, until }) => !sent || until.size > 0);
    },
    lost() {
      for (const entry of entries) entry.sent = false;
    },
    async empty() {
      if (requests().length === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      emptied = resolve;
      await Promise.race([promise, givenUp]);
    },
    giveUp,
  };
}
