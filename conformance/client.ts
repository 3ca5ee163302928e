/**
 * A raw JSON-RPC client: it sends what it is told to, keeps every frame of both directions and helps an agent with
 * nothing. It never refuses a frame: what a frame means is judged by the requirements.
 */
import { within } from './deadline.ts';
import { type Asked, type Frame, type Message, received, sameId, sent } from './frame.ts';
import { get, skip, Unmet } from './requirement.ts';
import { connect, type Ending, type Target, type Transport } from './transport.ts';

export interface Answer {
  id: unknown;
  result?: unknown;
  error?: unknown;
  /** Where among the frames it came. */
  at: number;
}

type Handler = (params: unknown, id: unknown) => unknown;

export async function openClient(target: Target, timeout: number): Promise<Client> {
  const client = new Client(timeout);
  try {
    client.carriedBy(await connect(target, client.receive));
  } catch (error) {
    throw new Unmet(`no connection: ${error instanceof Error ? error.message : error}`);
  }
  return client;
}

export class Client {
  readonly frames: Frame[] = [];
  /** Answers requests of the agent; undefined leaves one open. Others are answered with -32601. */
  readonly handlers = new Map<string, Handler>();
  /** What was sent with `initialize`, and what came back. */
  capabilities: unknown;
  initialized: unknown;
  ending: Ending | undefined;
  readonly #timeout: number;
  readonly #ended = Promise.withResolvers<never>();
  readonly #asked = new Map<unknown, Asked>();
  readonly #pending = new Map<unknown, (answer: Answer) => void>();
  readonly #listeners = new Set<(message: Message) => void>();
  #transport: Transport | undefined;
  #lastId = 1_000;

  constructor(timeout: number) {
    this.#timeout = timeout;
    this.#ended.promise.catch(() => undefined);
  }

  carriedBy(transport: Transport): void {
    this.#transport = transport;
    void transport.closed.then((ending) => {
      this.ending = ending;
      this.#ended.reject(new Unmet(`the connection ended: ${ending.reason}`));
    });
  }

  get transport(): Transport {
    if (!this.#transport) throw new Error('the client has no transport yet');
    return this.#transport;
  }

  /** What the agent has sent so far. */
  get said(): Frame[] {
    return this.frames.filter(({ from }) => from === 'agent');
  }

  /** How many requests wait for an answer. */
  get waiting(): number {
    return this.#pending.size;
  }

  readonly receive = (bytes: Buffer): void => {
    const frame = received(bytes, this.#asked);
    this.frames.push(frame);
    if (!frame.message) return;
    if ('method' in frame.message) this.#serve(frame.message);
    else this.#settle(frame.message);
    for (const listener of [...this.#listeners]) listener(frame.message);
  };

  #settle({ id, result, error }: Message): void {
    const key = sameId(id, this.#pending);
    this.#pending.get(key)?.({ id, result, error, at: this.frames.length - 1 });
    this.#pending.delete(key);
  }

  #serve({ id, method, params }: Message): void {
    if (id === undefined) return;
    const handler = this.handlers.get(String(method));
    const result = handler?.(params, id);
    if (!handler) this.send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
    else if (result !== undefined) this.send({ jsonrpc: '2.0', id, result });
  }

  send(message: unknown): void {
    const frame = sent(message);
    this.frames.push(frame);
    if (!this.ending) this.transport.send(frame.text);
  }

  notify(method: string, params: unknown = {}): void {
    this.send({ jsonrpc: '2.0', method, params });
  }

  request(method: string, params: unknown = {}, id: unknown = ++this.#lastId): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#pending.set(id, resolve);
    this.#asked.set(id, { method, params });
    this.send({ jsonrpc: '2.0', id, method, params });
    const answer = this.#within(promise, `${method} was not answered`);
    answer.catch(() => undefined);
    return answer;
  }

  /** The first message of the agent, among the frames from this one on or still to come, that matches. */
  async frame(from: number, match: (message: Message) => boolean, what: string): Promise<Message> {
    const past = this.frames
      .slice(from)
      .find(({ from: side, message }) => side === 'agent' && message && match(message));
    if (past?.message) return past.message;
    const { promise, resolve } = Promise.withResolvers<Message>();
    const listener = (message: Message) => match(message) && resolve(message);
    this.#listeners.add(listener);
    try {
      return await this.#within(promise, what);
    } finally {
      this.#listeners.delete(listener);
    }
  }

  /** When this is over, the agent has had every chance to say what it should not. */
  async fence(): Promise<void> {
    // The second one gives whatever the first one overtook its chance.
    for (let round = 0; round < 2; round++) {
      await this.request(FENCE).catch((error) => {
        if (this.ending) throw error;
        skip('it does not answer a custom request (EXT-001), so silence cannot be told from slowness');
      });
    }
  }

  #within<T>(promise: Promise<T>, what: string): Promise<T> {
    return within(this.#timeout, Promise.race([promise, this.#ended.promise]), () => {
      throw new Unmet(`${what} within ${this.#timeout} ms`);
    });
  }
}

/** A request that no agent knows and that every agent has to answer. */
export const FENCE = '_conformance/fence';

/** The code of an error answer, if it is one. */
export function codeOf({ error }: Answer): unknown {
  return get(error, 'code');
}
