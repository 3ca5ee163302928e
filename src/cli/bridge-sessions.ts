/**
 * The Sessions that the editor is attached to, kept attached across connections. Every change here follows from what was
 * asked, answered or told; it must never let a request overtake the updates that came before it.
 */
import { RESOURCE_NOT_FOUND, type RequestId } from '../acp/jsonrpc.ts';
import type { Logger } from '../server/logger.ts';
import { type Frame, membersOf, pixirOf, sessionIdOf, textOf, withoutCursor, withPixir } from './bridge-frames.ts';
import type { Outbox, Outgoing } from './bridge-outbox.ts';
import type { Questions } from './bridge-questions.ts';
import { type BridgeSession, fromStart, isAttached, newBridgeSession, takeUpdate } from './bridge-session.ts';

export interface Outcome {
  resolve(result: Record<string, unknown>): void;
  reject(error: unknown): void;
}

/** The bridge, as its Sessions see it. */
export interface BridgeHost {
  readonly logger: Logger;
  readonly outbox: Outbox;
  readonly questions: Questions;
  /** The editor did not ask for cursors. */
  plain(): boolean;
  toEditor(frame: Frame): void;
  toServer(text: string): void;
  /** Asks the server for the bridge itself. Nobody is called back when the connection goes first. */
  ask(method: string, params: unknown, on: Outcome): void;
  answer(id: RequestId, answer: { result?: unknown; error?: unknown }): void;
  /** Something may go now that had to wait. */
  flush(): void;
}

const LOAD = 'session/load';
const ATTACH = '_pixir/session/attach';
const OPENING = ['session/new', 'session/fork', LOAD, 'session/resume'];
const REOPENING = [LOAD, 'session/resume', ATTACH];
const ENDING = ['session/close', 'session/delete', '_pixir/session/detach'];

export class BridgeSessions {
  readonly #host: BridgeHost;
  readonly #sessions = new Map<string, BridgeSession>();

  constructor(host: BridgeHost) {
    this.#host = host;
  }

  /** The Session that these params name, where the editor is attached to it. */
  of(params: unknown): BridgeSession | undefined {
    const sessionId = sessionIdOf(params);
    return sessionId === undefined ? undefined : this.#sessions.get(sessionId);
  }

  /** Everything that was missed has been shown. */
  get caughtUp(): boolean {
    return [...this.#sessions.values()].every(({ stage }) => stage === 'live');
  }

  mayGo({ method, params }: Outgoing): boolean {
    const stage = this.of(params)?.stage;
    return stage === 'detached' ? REOPENING.includes(method) : stage !== 'attaching';
  }

  lost(): void {
    for (const session of this.#sessions.values()) session.stage = 'detached';
  }

  /** Attaches all of them again; those that the editor has asked to open follow with what it asked. */
  connected(): void {
    const asked = this.#host.outbox.requests().filter(({ method }) => REOPENING.includes(method));
    const ids = asked.map(({ params }) => sessionIdOf(params));
    for (const session of this.#sessions.values()) if (!ids.includes(session.id)) this.#attach(session);
  }

  /** A prompt attaches its connection to the Session; here with a position to come back to. */
  prompted(params: unknown, connected: boolean): void {
    const sessionId = sessionIdOf(params);
    if (sessionId === undefined || this.of(params)) return;
    const session = this.#track(sessionId, 'head');
    if (connected) this.#attach(session);
    else session.stage = 'detached';
  }

  send(entry: Outgoing): void {
    const sessionId = sessionIdOf(entry.params);
    const opens = entry.method === LOAD || entry.method === 'session/resume';
    if (opens && entry.id !== undefined && sessionId !== undefined) this.#open(entry, entry.id, sessionId);
    else this.#host.toServer(entry.text);
  }

  /**
   * Nothing shown yet: as it was asked. Otherwise the Session is resumed, for the answer, and attached, for the updates:
   * at the editor's place, or at the beginning where it wants to see all of it once more.
   */
  #open(entry: Outgoing, id: RequestId, sessionId: string): void {
    const session = this.#track(sessionId);
    const isLoad = entry.method === LOAD;
    if (isLoad) session.load = entry;
    if (isLoad) session.replaying = true;
    const begin = () => {
      if (isLoad && !entry.begun) fromStart(session);
      entry.begun = true;
    };
    if (session.cursor === undefined) {
      begin();
      session.stage = 'live';
      this.#host.toServer(entry.text);
      return;
    }
    session.stage = 'attaching';
    this.#host.ask('session/resume', entry.params, {
      resolve: (result) => {
        if (isLoad) entry.result = result;
        else this.#host.answer(id, { result: withPixir(result, { cursor: session.cursor }) });
        begin();
        this.#attach(session);
      },
      reject: (error) => {
        this.#host.answer(id, { error });
        this.#attach(session);
      },
    });
  }

  #attach(session: BridgeSession): void {
    const { id: sessionId, role, cursor } = session;
    const { logger } = this.#host;
    session.stage = 'attaching';
    const resolve: Outcome['resolve'] = ({ mode, reason, head }) => {
      if (mode === 'reset' && cursor !== undefined) {
        logger.warn({ sessionId, reason }, 'the session was replaced: the editor is shown only what comes');
        session.cursor = 'head';
        this.#attach(session);
        return;
      }
      if (cursor === 'head') session.cursor = textOf(head);
      session.stage = 'catching_up';
      this.#host.flush();
    };
    this.#host.ask(ATTACH, { sessionId, role, cursor }, { resolve, reject: (error) => this.#gone(session, error) });
  }

  /** It is not there, or not for us: whoever asks for it again is told so. */
  #gone({ id, load }: BridgeSession, error: unknown): void {
    if (load?.id !== undefined) this.#host.answer(load.id, { error });
    this.#forget(id);
    this.#host.flush();
  }

  /** It was deleted. A load that the server has been asked for is answered by the server. */
  closed(params: Record<string, unknown>): void {
    const session = this.of(params);
    if (!session) return;
    if (session.load && !session.load.result) session.load = undefined;
    this.#gone(session, { code: RESOURCE_NOT_FOUND, message: 'unknown session', data: { sessionId: session.id } });
  }

  /** Shows an update, if there is anything new in it. */
  update(frame: Frame, params: Record<string, unknown>): void {
    const sessionId = sessionIdOf(params);
    if (sessionId === undefined) return;
    // Some other method has attached the connection, at the head.
    const session = this.of(params) ?? this.#track(sessionId, 'head');
    if (session.load?.result && membersOf(params.update).sessionUpdate === 'available_commands_update') {
      session.offer = frame;
      return;
    }
    const plain = this.#host.plain() && !session.announce;
    if (!takeUpdate(session, params, plain, this.#host.outbox.hasPrompt)) return;
    this.#host.toEditor(plain ? { ...frame, params: withoutCursor(params) } : frame);
  }

  nowCaughtUp(session: BridgeSession, { cursor, permissions }: Record<string, unknown>): void {
    if (!isAttached(session)) return;
    session.stage = 'live';
    session.cursor = textOf(cursor);
    if (Array.isArray(permissions)) this.#host.questions.keepOnly(session.id, permissions);
    const { load } = session;
    if (load?.result && load.id !== undefined)
      this.#host.answer(load.id, { result: withPixir(load.result, { cursor }) });
    session.replaying = session.load !== undefined;
    const { offer } = session;
    session.offer = undefined;
    if (offer) this.update(offer, offer.params ?? {});
  }

  /** What the answer to a request of the editor's means for coming back. */
  answered({ method, params }: Outgoing, result: unknown): void {
    // A fork is asked of one Session and opens another.
    const sessionId = sessionIdOf(result) ?? sessionIdOf(params);
    if (sessionId === undefined) return;
    if (method === 'session/prompt') this.#host.questions.turnOver(sessionId);
    if (ENDING.includes(method)) this.#forget(sessionId);
    if (method === ATTACH) this.#attachedByEditor(this.#track(sessionId), membersOf(params), membersOf(result));
    if (!OPENING.includes(method)) return;
    const session = this.#track(sessionId);
    session.load = undefined;
    session.replaying = false;
    session.cursor = textOf(pixirOf(result).cursor) ?? session.cursor;
  }

  refused({ method, params }: Outgoing): void {
    const session = this.of(params);
    if (!session || !REOPENING.includes(method)) return;
    if (method !== ATTACH) session.load = undefined;
    session.replaying = false;
    // Without a position it was never open.
    if (session.cursor === undefined) this.#forget(session.id);
    else if (session.stage === 'detached') this.#attach(session);
  }

  #attachedByEditor(
    session: BridgeSession,
    params: Record<string, unknown>,
    { mode, head }: Record<string, unknown>,
  ): void {
    session.role = params.role;
    session.announce = true;
    session.replaying = true;
    session.stage = 'catching_up';
    if (mode === 'reset') fromStart(session);
    else session.cursor = textOf(params.cursor === 'head' ? head : params.cursor);
  }

  #track(sessionId: string, cursor?: string): BridgeSession {
    const session = this.#sessions.get(sessionId) ?? newBridgeSession(sessionId, cursor);
    this.#sessions.set(sessionId, session);
    return session;
  }

  #forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
    this.#host.questions.keepOnly(sessionId, []);
  }
}
