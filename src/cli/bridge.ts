/**
 * The bridge: an editor on one side, a running server on the other, and a connection between them that comes back by
 * itself. It forwards what it need not understand, and must never show an editor anything twice or keep anything from it.
 */
import { randomUUID } from 'node:crypto';
import { decode, encodeError, INVALID_REQUEST, type RequestId } from '../acp/jsonrpc.ts';
import type { OpenPeer, Receiver, Transport } from '../acp/transport.ts';
import type { RefusedReason } from '../client/close-codes.ts';
import { Link, type LinkState } from '../client/link.ts';
import type { Address, Ports } from '../client/ports.ts';
import type { Logger } from '../server/logger.ts';
import { type Frame, membersOf, parseFrame, pixirOf, withoutCursor, withPixir } from './bridge-frames.ts';
import { createOutbox } from './bridge-outbox.ts';
import { createQuestions } from './bridge-questions.ts';
import { isAttached } from './bridge-session.ts';
import { BridgeSessions, type Outcome } from './bridge-sessions.ts';
import { nodePorts } from './bridge-wire.ts';

export interface BridgeOptions {
  /** Where the server is now, and with what to come in; asked for every attempt. */
  address(): Address | Promise<Address>;
  logger: Logger;
  /** The server will not have us: the editor's transport is about to be closed. */
  onRefused(reason: RefusedReason): void;
  /** Aborts when the process is to end: no answer is waited for any more. */
  signal?: AbortSignal;
  ports?: Ports;
}

/** A server takes no more: such a frame would end every connection that it is sent on. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** An editor that leaves more unread loses its connection, and comes back to its place when it has read. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** Every editor that comes through the returned door gets a connection of its own to the server. */
export function createBridge(options: BridgeOptions): OpenPeer {
  return (editor) => new Bridge(options, editor);
}

class Bridge implements Receiver {
  readonly #options: BridgeOptions;
  readonly #editor: Transport;
  readonly #link: Link;
  readonly #outbox = createOutbox();
  readonly #questions = createQuestions(
    (frame) => this.#toEditor(frame),
    (frame) => void this.#link.send(JSON.stringify(frame)),
  );
  readonly #sessions: BridgeSessions;
  /** What the bridge itself has asked on this connection. */
  readonly #own = new Map<RequestId, Outcome>();
  readonly #ownIds = `bridge-${randomUUID()}`;
  #lastOwnId = 0;
  /** The params of the `initialize` that the server has agreed to. */
  #hello: unknown;
  #plain = true;
  /** Connected, and as initialized as the editor knows it to be. */
  #ready = false;
  #away = false;
  /** Not connected because the editor does not read. */
  #paused = false;

  constructor(options: BridgeOptions, editor: Transport) {
    this.#options = options;
    this.#editor = editor;
    this.#sessions = new BridgeSessions({
      logger: options.logger,
      outbox: this.#outbox,
      questions: this.#questions,
      plain: () => this.#plain,
      toEditor: (frame) => this.#toEditor(frame),
      toServer: (text) => void this.#link.send(text),
      ask: (method, params, on) => this.#ask(method, params, on),
      answer: (id, answer) => this.#answer(id, answer),
      flush: () => this.#flush(),
    });
    this.#link = new Link({
      ports: options.ports ?? nodePorts,
      address: options.address,
      onMessage: (text) => this.#heard(text),
      onState: (state) => this.#linkChanged(state),
    });
    editor.onDrain(() => {
      if (!this.#paused) return;
      this.#paused = false;
      this.#link.start();
    });
    options.signal?.addEventListener('abort', this.#outbox.giveUp, { once: true });
  }

  // Receiver: what the editor says.

  receive(text: string): void {
    // Not before: an editor may start us long before it speaks, and no server waits for its `initialize`.
    if (this.#hello === undefined && this.#link.state.kind === 'closed' && !this.#paused) this.#link.start();
    const message = decode(text);
    switch (message.type) {
      case 'request':
        this.#asked(message.id, message.method, message.params);
        return;
      case 'notification':
        this.#outbox.notify(message.method, message.params);
        this.#flush();
        return;
      case 'response':
        this.#questions.answered(message.id, { jsonrpc: '2.0', result: message.result });
        return;
      case 'error_response':
        this.#questions.answered(message.id, { jsonrpc: '2.0', error: message.error });
        return;
      case 'invalid':
        this.#editor.send(encodeError(null, message.error));
        return;
      case 'ignored':
        return;
    }
  }

  draining(): void {}

  idle(): Promise<void> {
    return this.#outbox.empty();
  }

  /** Sessions and their Turns go on at the server. */
  closed(): void {
    this.#paused = false;
    this.#outbox.giveUp();
    this.#link.close();
  }

  #asked(id: RequestId, method: string, params: unknown): void {
    // A blank id on a cancel is a client that does not know better: nobody answers it.
    if (method === 'session/cancel' && typeof id === 'string' && id.trim() === '') {
      this.#outbox.notify(method, params);
    } else {
      const { text } = this.#outbox.request(id, method, this.#outgoing(method, params));
      if (Buffer.byteLength(text) > MAX_FRAME_BYTES)
        this.#answer(id, { error: { code: INVALID_REQUEST, message: 'the message is too large' } });
      else if (method === 'session/prompt' && this.#hello !== undefined) this.#sessions.prompted(params, this.#ready);
    }
    this.#flush();
  }

  /** Two methods are changed on their way: they are given what coming back needs. */
  #outgoing(method: string, params: unknown): unknown {
    if (method === 'session/prompt') return withPixir(params, { promptKey: randomUUID(), ...pixirOf(params) });
    if (method !== 'initialize') return params;
    const { clientCapabilities } = membersOf(params);
    if (this.#hello === undefined) this.#plain = pixirOf(clientCapabilities).cursor !== 1;
    return { ...membersOf(params), clientCapabilities: withPixir(clientCapabilities, { cursor: 1 }) };
  }

  #flush(): void {
    if (!this.#ready) return;
    this.#outbox.flush(
      (entry) => this.#sessions.mayGo(entry),
      (entry) => this.#sessions.send(entry),
    );
  }

  #toEditor(frame: Frame): void {
    this.#editor.send(JSON.stringify(frame));
  }

  #answer(id: RequestId, { result, error }: { result?: unknown; error?: unknown }): void {
    const entry = this.#outbox.answered(id);
    if (error !== undefined) {
      if (entry) this.#sessions.refused(entry);
      this.#toEditor({ jsonrpc: '2.0', id, error });
      return;
    }
    if (entry?.method === 'initialize') this.#hello = entry.params;
    if (entry) this.#sessions.answered(entry, result);
    const shown = this.#plain && pixirOf(result).cursor !== undefined ? withoutCursor(membersOf(result)) : result;
    this.#toEditor({ jsonrpc: '2.0', id, result: shown });
    this.#proved();
  }

  // What the server says.

  #heard(text: string): void {
    const frame = parseFrame(text);
    if (!frame) this.#link.refuse('protocol');
    else if (frame.method === undefined) this.#answered(frame);
    else if (frame.id === undefined) this.#told(frame, frame.method);
    else this.#questioned(frame);
    if (this.#editor.bufferedAmount <= MAX_UNREAD_BYTES) return;
    this.#paused = true;
    this.#link.close();
  }

  #answered({ id = null, result, error }: Frame): void {
    const own = this.#own.get(id);
    this.#own.delete(id);
    if (!own) this.#answer(id, error === undefined ? { result } : { error });
    else if (error === undefined) own.resolve(membersOf(result));
    else own.reject(error);
  }

  #questioned(frame: Frame): void {
    const session = this.#sessions.of(frame.params);
    // A permission that an older subscription asks for is asked again.
    const comesAgain = pixirOf(frame.params).permissionId !== undefined;
    if (!(comesAgain && session && !isAttached(session))) this.#questions.asked(frame);
  }

  #told(frame: Frame, method: string): void {
    const { params = {} } = frame;
    const session = this.#sessions.of(params);
    switch (method) {
      case 'session/update':
        this.#sessions.update(frame, params);
        return;
      case '$/cancel_request':
        this.#questions.withdrawn(params.requestId);
        return;
      case '_pixir/session/closed':
        this.#sessions.closed(params);
        this.#toEditor(frame);
        return;
      case '_pixir/sessions/changed':
        this.#toEditor(frame);
        return;
      case '_pixir/session/caught_up':
        if (session) this.#sessions.nowCaughtUp(session, params);
        this.#proved();
        break;
    }
    const forUs = method.startsWith('_pixir/') && (session ? !session.announce : this.#plain);
    if (!forUs) this.#toEditor(frame);
  }

  // The connection.

  #ask(method: string, params: unknown, on: Outcome): void {
    this.#lastOwnId += 1;
    const id = `${this.#ownIds}-${this.#lastOwnId}`;
    this.#own.set(id, on);
    this.#link.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  #linkChanged(state: LinkState): void {
    switch (state.kind) {
      case 'connecting':
        return;
      case 'open':
        this.#opened();
        return;
      case 'waiting':
      case 'offline':
        this.#lost();
        if (!this.#away) this.#options.logger.warn({}, 'the server is away: waiting for it to come back');
        this.#away = true;
        return;
      case 'refused':
        this.#lost();
        this.#options.onRefused(state.reason);
        this.#editor.close(1000, 'refused');
        return;
      case 'closed':
        this.#lost();
        return;
    }
  }

  /** The editor initializes once, every connection anew. */
  #opened(): void {
    if (this.#hello === undefined) {
      this.#connected();
      return;
    }
    this.#ask('initialize', this.#hello, {
      resolve: () => this.#connected(),
      reject: () => this.#link.refuse('protocol'),
    });
  }

  #connected(): void {
    if (this.#away) this.#options.logger.info({}, 'the server is back');
    this.#away = false;
    this.#ready = true;
    this.#sessions.connected();
    this.#flush();
    if (this.#hello !== undefined) this.#proved();
  }

  #lost(): void {
    this.#ready = false;
    this.#own.clear();
    this.#outbox.lost();
    this.#questions.lost();
    this.#sessions.lost();
  }

  /** Not sooner: a server that fails in every replay must not be asked for it four times a second. */
  #proved(): void {
    if (this.#sessions.caughtUp) this.#link.proved();
  }
}
