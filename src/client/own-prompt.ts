/**
 * The one prompt of a Session that is not answered yet. It is stored before it is sent, sent again on every connection
 * under the same key, and forgotten when it is answered: so it runs once, whatever breaks in between.
 */
import type { ContentBlock, PromptResponse } from '@agentclientprotocol/sdk';
import type { PromptMeta, SessionMemory, StoredPrompt } from './memory.ts';
import { ClientError, type Rpc } from './rpc.ts';

export interface OwnPromptEvents {
  /** Whether a prompt may be sent now: the connection has shown everything that came before. */
  ready(): boolean;
  /** It is on its way, now or as soon as there is a connection. */
  taken(prompt: StoredPrompt): void;
  /** It is answered, or never will be. `happened`: a Turn has run for it, as far as we know. */
  settled(prompt: StoredPrompt, happened: boolean): void;
}

interface Pending {
  prompt: StoredPrompt;
  /** `before`: on an earlier connection, or in an earlier life; the server may know it. */
  sent: 'storing' | 'never' | 'before' | 'now';
  cancelled: boolean;
  answer: PromiseWithResolvers<PromptResponse>;
}

export class OwnPrompt {
  readonly #sessionId: string;
  readonly #rpc: Rpc;
  readonly #memory: SessionMemory;
  readonly #on: OwnPromptEvents;
  #pending: Pending | undefined;

  constructor(sessionId: string, rpc: Rpc, memory: SessionMemory, on: OwnPromptEvents) {
    this.#sessionId = sessionId;
    this.#rpc = rpc;
    this.#memory = memory;
    this.#on = on;
  }

  /** What waits for its answer. */
  get current(): StoredPrompt | undefined {
    return this.#pending?.prompt;
  }

  get answer(): Promise<PromptResponse> | undefined {
    return this.#pending?.answer.promise;
  }

  /** Takes up what an earlier life left unanswered. */
  restore(prompt: StoredPrompt): void {
    this.#begin(prompt, 'before');
  }

  /** @throws ClientError `prompt_pending`; whatever the storage throws. */
  async take(content: ContentBlock[], meta: PromptMeta): Promise<PromptResponse> {
    if (this.#pending) throw new ClientError('prompt_pending', 'a prompt is pending');
    const prompt = { promptKey: meta.pixir?.promptKey ?? newKey(), prompt: content, meta };
    const taken = this.#begin(prompt, 'storing');
    try {
      // Before it is sent: a key that a crash forgets would let the prompt run twice.
      await this.#memory.savePrompt(prompt);
      taken.sent = 'never';
      if (taken.cancelled) this.#settle(taken, { response: CANCELLED });
      else this.send();
    } catch (error) {
      this.#settle(taken, { error });
    }
    return taken.answer.promise;
  }

  /** Sends it on this connection, unless it was already, or cannot be yet. */
  send(): void {
    const pending = this.#pending;
    if (!pending || pending.sent === 'storing' || pending.sent === 'now' || !this.#on.ready()) return;
    pending.sent = 'now';
    const { promptKey, prompt, meta } = pending.prompt;
    const _meta = { ...meta, pixir: { ...meta.pixir, promptKey } };
    this.#rpc.ask(
      'session/prompt',
      { sessionId: this.#sessionId, prompt, _meta },
      {
        resolve: (response) => this.#settle(pending, { response }),
        reject: (error) => {
          if (error.reason !== 'connection_lost') this.#settle(pending, { error });
        },
      },
    );
    if (pending.cancelled) this.#cancelTurn();
  }

  /** Its Turn, or whatever Turn runs, shall stop. What has not left yet is taken back. */
  cancel(): void {
    const pending = this.#pending;
    if (pending) pending.cancelled = true;
    if (pending?.sent === 'never') this.#settle(pending, { response: CANCELLED });
    else this.#cancelTurn();
  }

  /** The connection has gone. @param tooLarge because of what we sent. */
  disconnected(tooLarge: boolean): void {
    const pending = this.#pending;
    if (pending?.sent !== 'now') return;
    pending.sent = 'before';
    if (!tooLarge) return;
    this.#settle(pending, { error: new ClientError('too_large', 'it is too large') });
  }

  /** Nobody will answer any more in this life. It stays stored: the next one sends it again. */
  fail(error: ClientError): void {
    this.#pending?.answer.reject(error);
    this.#pending = undefined;
  }

  #begin(prompt: StoredPrompt, sent: Pending['sent']): Pending {
    const pending: Pending = { prompt, sent, cancelled: false, answer: Promise.withResolvers() };
    // Whoever waits hears of a failure; after a new start perhaps nobody does.
    pending.answer.promise.catch(() => undefined);
    this.#pending = pending;
    this.#on.taken(prompt);
    return pending;
  }

  #settle(settled: Pending, outcome: { response: PromptResponse } | { error: unknown }): void {
    if (this.#pending !== settled) return;
    this.#pending = undefined;
    this.#on.settled(settled.prompt, 'response' in outcome && settled.sent === 'now');
    const { resolve, reject } = settled.answer;
    const tell = () => ('response' in outcome ? resolve(outcome.response) : reject(outcome.error));
    // First forgotten, then told: a next life must not find pending what this one knew to be answered.
    this.#memory.forgetPrompt().then(tell, tell);
  }

  #cancelTurn(): void {
    this.#rpc.notify('session/cancel', { sessionId: this.#sessionId });
  }
}

const CANCELLED: PromptResponse = { stopReason: 'cancelled' };

/** 128 random bits. Not `randomUUID`, which a page has only where it was served securely. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
