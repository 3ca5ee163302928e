/**
 * A raw ACP client for tests: sends and reads frames over whatever wire it is given, and checks every incoming one
 * against the official schema. It helps with nothing: what it shows is what was on the wire.
 */
import assert from 'node:assert/strict';
import { checkFrame, type Frame } from './schema.ts';

export interface Wire {
  send(text: string): void;
  close(): void;
}

/** An update as a test likes to read it. */
export type Update = Record<string, unknown> & { sessionUpdate: string };

export class RpcError extends Error {
  readonly code: number;
  readonly data: Record<string, unknown> | undefined;

  constructor({ code, message, data }: NonNullable<Frame['error']>) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const ABOUT = ['session_info_update', 'available_commands_update'];

interface Waiter {
  match(frame: Frame): boolean;
  resolve(frame: Frame): void;
}

export class WireClient {
  /** Everything that came, in order. */
  readonly frames: Frame[] = [];
  #wire: Wire | undefined;
  #lastId = 0;
  #fault: unknown;
  #waiters: Waiter[] = [];
  #methods = new Map<Frame['id'], string>();
  #pending = new Map<Frame['id'], { resolve(result: Record<string, unknown>): void; reject(error: unknown): void }>();
  /** Answers a permission request; undefined leaves it open. */
  onPermission: (params: Record<string, unknown>, id: Frame['id']) => unknown = () => undefined;

  /** Hears of every frame at once, in order. */
  onFrame: (frame: Frame) => void = () => undefined;
  /** Hears of every update at once, in order. */
  onUpdate: (update: Update) => void = () => undefined;

  open(wire: Wire): this {
    this.#wire = wire;
    return this;
  }

  /** Called by the wire with each message. */
  readonly receive = (text: string): void => {
    try {
      this.#take(checkFrame(text, (id) => this.#methods.get(id)));
    } catch (error) {
      this.#fault ??= error;
      this.#failAll(error);
    }
  };

  /** Called by the wire when it has ended. */
  readonly ended = (): void => this.#failAll(new Error('the connection ended'));

  #take(frame: Frame): void {
    this.frames.push(frame);
    this.onFrame(frame);
    if (frame.method === 'session/update') this.onUpdate(frame.params?.update as Update);
    if (frame.method === 'session/request_permission' && frame.params) {
      const result = this.onPermission(frame.params, frame.id);
      if (result !== undefined) this.raw({ jsonrpc: '2.0', id: frame.id, result });
    }
    if (frame.method === undefined) {
      const pending = this.#pending.get(frame.id);
      this.#pending.delete(frame.id);
      if (frame.error) pending?.reject(new RpcError(frame.error));
      else pending?.resolve(frame.result ?? {});
    }
    this.#waiters = this.#waiters.filter((waiter) => {
      if (!waiter.match(frame)) return true;
      waiter.resolve(frame);
      return false;
    });
  }

  #failAll(error: unknown): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  raw(message: unknown): void {
    assert.equal(this.#fault, undefined, String(this.#fault));
    this.#wire?.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  request(
    method: string,
    params: unknown = {},
    id: string | number = ++this.#lastId,
  ): Promise<Record<string, unknown>> {
    this.#methods.set(id, method);
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
    this.#pending.set(id, { resolve, reject });
    promise.catch(() => undefined);
    this.raw({ jsonrpc: '2.0', id, method, params });
    return promise;
  }

  notify(method: string, params: unknown): void {
    this.raw({ jsonrpc: '2.0', method, params });
  }

  /** The first frame, past or future, that matches. */
  frame(match: (frame: Frame) => boolean): Promise<Frame> {
    const past = this.frames.find(match);
    if (past) return Promise.resolve(past);
    return this.next(match);
  }

  /** The next frame that matches. */
  next(match: (frame: Frame) => boolean): Promise<Frame> {
    return new Promise((resolve) => this.#waiters.push({ match, resolve }));
  }

  close(): void {
    this.#wire?.close();
  }

  /** Throws what was wrong with any frame. Called at the end of every test that uses a client. */
  assertSound(): void {
    if (this.#fault) throw this.#fault;
  }

  // What most tests do.

  async initialize(clientCapabilities: unknown = {}): Promise<Record<string, unknown>> {
    return this.request('initialize', { protocolVersion: 1, clientCapabilities });
  }

  async newSession(cwd: string): Promise<string> {
    return String((await this.request('session/new', { cwd, mcpServers: [] })).sessionId);
  }

  async prompt(sessionId: string, text: string, _meta?: unknown): Promise<Record<string, unknown>> {
    return this.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }], ...(_meta ? { _meta } : {}) });
  }

  /** The updates of the conversation, without what is said about it: its title, and the commands there are. */
  updates(sessionId?: string): Update[] {
    return this.allUpdates(sessionId).filter(({ sessionUpdate }) => !ABOUT.includes(sessionUpdate));
  }

  allUpdates(sessionId?: string): Update[] {
    return this.frames
      .filter(({ method, params }) => method === 'session/update' && (!sessionId || params?.sessionId === sessionId))
      .map(({ params }) => params?.update as Update);
  }

  /** The text that the agent has said so far. */
  text(sessionId?: string, sessionUpdate = 'agent_message_chunk'): string {
    return this.updates(sessionId)
      .filter((update) => update.sessionUpdate === sessionUpdate)
      .map((update) => (update.content as { text: string }).text)
      .join('');
  }

  update(match: (update: Update) => boolean): Promise<Frame> {
    return this.frame(({ method, params }) => method === 'session/update' && match(params?.update as Update));
  }
}
