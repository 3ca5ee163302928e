/**
 * The Feed: the one pump that moves a Session from its Log to one connection. Everything a client learns of a Session
 * leaves through here, in Log order: updates, permission requests and their withdrawal, and what waits for a position.
 * It buffers nothing: the Log is the buffer, and a slow client is simply further back in it.
 */
import type { SessionConfigOption } from '@agentclientprotocol/sdk';
import type { Signal } from '../core/bus.ts';
import { attach, type Watch } from '../core/conversation.ts';
import type { Entry } from '../core/log.ts';
import type { Runtime } from '../core/runtime.ts';
import type { Session } from '../core/session.ts';
import type { PendingPermission } from '../core/session-state.ts';
import { configOptions } from './config-options.ts';
import { deltaFrame, encodeUpdate, entryFrames } from './frames.ts';
import { chunkOf, outputOf, updatesOf } from './translate.ts';

/** How far a reader has come: everything up to `seq`, and of the live item the first `offset` code units. */
export interface Position {
  seq: number;
  live?: { messageId: string; offset: number } | undefined;
}

/** The connection, as a Feed sees it. */
export interface FeedSink {
  send(frame: string): void;
  /** True while the client is too far behind to be sent more; `kick` is called when it has caught up. */
  congested(): boolean;
  /** Puts a permission to the client. The returned function withdraws the question. */
  ask(sessionId: string, permission: PendingPermission): () => void;
  /** The Feed cannot go on: the Session's Log cannot be read. */
  fail(error: unknown): void;
}

const PAGE = 200;

export class Feed {
  readonly #runtime: Runtime;
  readonly #sink: FeedSink;
  readonly #position: Position;
  /** Thoughts up to here are left out: session/load does not show them. */
  readonly #thoughtsAfter: number;
  /** Messages that this connection sent itself: it has them. */
  readonly #own = new Set<string>();
  readonly #asked = new Map<string, () => void>();
  readonly #shownOutputs = new Map<string, string>();
  #waiting: { seq: number; resolve(sent: boolean): void }[] = [];
  readonly #caughtUp = Promise.withResolvers<void>();
  #isCaughtUp = false;
  #dirty = true;
  #busy = false;
  #stopped = false;
  #watch: Watch | undefined;

  private constructor(runtime: Runtime, sink: FeedSink, position: Position, thoughtsAfter: number) {
    this.#runtime = runtime;
    this.#sink = sink;
    this.#position = position;
    this.#thoughtsAfter = thoughtsAfter;
  }

  /**
   * Attaches a connection to a Session and starts the pump.
   *
   * @param from `start` for everything, as session/load wants it; `head` for only what comes.
   * @throws CoreError `unknown_session`.
   */
  static async attach(runtime: Runtime, sessionId: string, sink: FeedSink, from: 'start' | 'head'): Promise<Feed> {
    let feed: Feed | undefined;
    const watch = await attach(runtime, sessionId, (signal) => {
      if (feed) feed.#onSignal(signal);
    });
    const { head, live } = watch.session;
    const position: Position = from === 'start' ? { seq: -1 } : { seq: head };
    if (from === 'head' && live) position.live = { messageId: live.messageId, offset: live.text.length };
    feed = new Feed(runtime, sink, position, from === 'start' ? head : -1);
    feed.#watch = watch;
    feed.kick();
    return feed;
  }

  get session(): Session {
    if (!this.#watch) throw new Error('the Feed is not attached');
    return this.#watch.session;
  }

  /** Resolves when everything there was at the attach has been sent. */
  caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** True when everything up to `seq` has been sent; false when the Feed was stopped before. */
  reached(seq: number): Promise<boolean> {
    if (this.#position.seq >= seq) return Promise.resolve(true);
    if (this.#stopped) return Promise.resolve(false);
    return new Promise((resolve) => this.#waiting.push({ seq, resolve }));
  }

  /** The client has this message already, because it sent it. */
  skipOwn(messageId: string): void {
    this.#own.add(messageId);
  }

  stop(): void {
    this.#stopped = true;
    this.#watch?.stop();
    for (const withdraw of this.#asked.values()) withdraw();
    this.#asked.clear();
    for (const { resolve } of this.#waiting) resolve(false);
    this.#caughtUp.resolve();
  }

  /** Something may have happened, or the client can take more. */
  kick(): void {
    this.#dirty = true;
    if (this.#busy) return;
    this.#busy = true;
    this.#pump();
  }

  #onSignal(signal: Signal): void {
    const idle = this.#isCaughtUp && !this.#busy && !this.#dirty && !this.#sink.congested();
    if (signal.type === 'delta' && idle && this.#continuesWith(signal)) {
      this.#sink.send(deltaFrame(this.session.id, signal));
      this.#position.live = { messageId: signal.messageId, offset: signal.offset + signal.text.length };
      return;
    }
    this.kick();
  }

  #continuesWith(delta: Extract<Signal, { type: 'delta' }>): boolean {
    const { live } = this.#position;
    return (live?.messageId === delta.messageId ? live.offset : 0) === delta.offset;
  }

  /** Synchronous as long as the entries are in memory, so that a live update costs no turn of the event loop. */
  #pump(): void {
    while (this.#dirty && !this.#stopped && !this.#sink.congested()) {
      this.#dirty = false;
      const page = this.session.read(this.#position.seq, PAGE);
      if (page instanceof Promise) {
        page
          .then((entries) => this.#sendPage(entries))
          .then(
            () => this.#pump(),
            (error) => this.#sink.fail(error),
          );
        return;
      }
      this.#sendPage(page);
    }
    this.#busy = false;
  }

  #sendPage(entries: Entry[]): void {
    if (entries.length === 0) {
      this.#atHead();
      return;
    }
    this.#dirty = true;
    for (const entry of entries) {
      if (this.#stopped || this.#sink.congested()) return;
      this.#sendEntry(entry);
      this.#position.seq = entry.event.seq;
      this.#settle();
    }
  }

  #sendEntry(entry: Entry): void {
    const { event } = entry;
    const messageId = 'messageId' in event.data ? event.data.messageId : undefined;
    const { live } = this.#position;
    const seen = live !== undefined && live.messageId === messageId ? live.offset : 0;
    const thoughts = event.seq > this.#thoughtsAfter;
    if (messageId === undefined || !this.#own.delete(messageId)) {
      const make = (offset: number) => updatesOf(event, { offset, thoughts, configOptions: () => this.#options() });
      const shared = seen === 0 && (thoughts || event.type !== 'reasoning');
      const frames = shared
        ? entryFrames(entry, () => make(0))
        : make(seen).map((update) => encodeUpdate(event.sessionId, update));
      for (const frame of frames) this.#sink.send(frame);
    }
    if (live?.messageId === messageId) this.#position.live = undefined;
    if (event.type === 'tool_result') this.#shownOutputs.delete(event.data.callId);
    if (event.type === 'permission_decision') this.#withdraw(event.data.permissionId);
    if (event.type === 'permission_requested' && this.#isCaughtUp) this.#ask(event.data.permissionId);
  }

  /** Everything recorded has been sent: now what is still in motion. */
  #atHead(): void {
    const { live, outputs, id, state } = this.session;
    if (live && live.after <= this.#position.seq) {
      const offset = this.#position.live?.messageId === live.messageId ? this.#position.live.offset : 0;
      for (const update of chunkOf(live.kind, live.messageId, live.text.slice(offset))) {
        this.#sink.send(encodeUpdate(id, update));
      }
      this.#position.live = { messageId: live.messageId, offset: live.text.length };
    }
    for (const [callId, output] of outputs) {
      if (this.#shownOutputs.get(callId) === output) continue;
      this.#shownOutputs.set(callId, output);
      this.#sink.send(encodeUpdate(id, outputOf(callId, output)));
    }
    if (this.#isCaughtUp) return;
    this.#isCaughtUp = true;
    for (const permissionId of state.permissions.keys()) this.#ask(permissionId);
    this.#caughtUp.resolve();
  }

  #ask(permissionId: string): void {
    const pending = this.session.state.permissions.get(permissionId);
    // Decided already: this reader is behind, and its next entries will say so.
    if (!pending || this.#asked.has(permissionId)) return;
    this.#asked.set(permissionId, this.#sink.ask(this.session.id, pending));
  }

  #withdraw(permissionId: string | undefined): void {
    if (permissionId === undefined) return;
    this.#asked.get(permissionId)?.();
    this.#asked.delete(permissionId);
  }

  #settle(): void {
    if (this.#waiting.length === 0) return;
    const { seq } = this.#position;
    for (const waiter of this.#waiting) if (waiter.seq <= seq) waiter.resolve(true);
    this.#waiting = this.#waiting.filter((waiter) => waiter.seq > seq);
  }

  #options(): SessionConfigOption[] {
    return configOptions(this.session.state, this.#runtime.settings);
  }
}
