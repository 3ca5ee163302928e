/**
 * The Feed: the one pump that moves a Session from its Log to one connection. Everything a client learns of a Session
 * leaves through here, in Log order: updates, permission requests and their withdrawal, and what waits for a position.
 * It buffers nothing: the Log is the buffer, and a slow client is simply further back in it.
 */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { type BlobBlock, blobsOf, type LoadedBlobs, loadBlobs, NO_BLOBS } from '../core/blobs.ts';
import type { Signal } from '../core/bus.ts';
import type { Watch } from '../core/conversation.ts';
import type { Event } from '../core/event.ts';
import { kindOfItem, type LiveItem } from '../core/live-item.ts';
import type { Entry } from '../core/log.ts';
import type { Runtime } from '../core/runtime.ts';
import type { Session } from '../core/session.ts';
import type { Progress } from '../core/tool.ts';
import { configOptions } from './config-options.ts';
import { encodeCursor, type Position } from './cursor.ts';
import type { FeedOptions, FeedSink } from './feed-ports.ts';
import { deltaFrame, encodeUpdate, isForAll, sharedFrames, stateFrame } from './frames.ts';
import { encodeNotification } from './jsonrpc.ts';
import { progressOf, updatesOf } from './translate.ts';
import type { CaughtUp, UpdateMeta } from './wire.ts';

const PAGE = 200;

export class Feed {
  readonly session: Session;
  readonly options: FeedOptions;
  readonly #watch: Watch;
  readonly #runtime: Runtime;
  readonly #sink: FeedSink;
  readonly #position: Position;
  /** Messages that this connection sent itself: it has them. */
  readonly #own = new Set<string>();
  readonly #asked = new Map<string, () => void>();
  readonly #shownOutputs = new Map<string, Progress>();
  readonly #caughtUp = Promise.withResolvers<void>();
  #waiting: { seq: number; resolve(sent: boolean): void }[] = [];
  #isCaughtUp = false;
  #dirty = true;
  /** A pump is running, or must not run yet. */
  #busy = true;
  #stopped = false;

  constructor(watch: Watch, runtime: Runtime, sink: FeedSink, position: Position, options: FeedOptions) {
    this.#watch = watch;
    this.session = watch.session;
    this.#runtime = runtime;
    this.#sink = sink;
    this.#position = { ...position };
    this.options = options;
  }

  /** Begins to send. Whatever must be on the wire before the first update is sent before this is called. */
  start(): void {
    this.#busy = false;
    this.kick();
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
    this.#watch.stop();
    for (const withdraw of this.#asked.values()) withdraw();
    this.#asked.clear();
    for (const { resolve } of this.#waiting) resolve(false);
    this.#caughtUp.resolve();
  }

  /** Tells the client what is no part of the Log. It must know the Session by then. */
  show(update: SessionUpdate): void {
    if (!this.#stopped) this.#sink.send(encodeUpdate(this.session.id, update));
  }

  /** Something may have happened, or the client can take more. */
  kick(): void {
    this.#dirty = true;
    if (this.#busy) return;
    this.#busy = true;
    this.#pump();
  }

  /** A wake-up from the bus, or a live delta, which needs no reading when it continues what was sent. */
  hear(signal: Signal): void {
    const idle = this.#isCaughtUp && !this.#busy && !this.#dirty && !this.#sink.congested();
    if (signal.type !== 'delta' || !idle || !this.#continuesWith(signal)) {
      this.kick();
      return;
    }
    this.#position.live = { messageId: signal.messageId, offset: signal.offset + signal.text.length };
    this.#sink.send(deltaFrame(this.session.id, signal, this.options.cursors ? () => this.cursor : undefined));
  }

  #continuesWith(delta: Extract<Signal, { type: 'delta' }>): boolean {
    const { live } = this.#position;
    return live ? live.messageId === delta.messageId && live.offset === delta.offset : delta.offset === 0;
  }

  /** Synchronous as long as the entries are in memory, so that a live update costs no turn of the event loop. */
  #pump(): void {
    if (this.session.phase.kind === 'deleted' && !this.#stopped) {
      this.#sink.gone(this.session.id);
      return;
    }
    while (this.#dirty && !this.#stopped && !this.#sink.congested()) {
      this.#dirty = false;
      const page = this.session.read(this.#position.seq, PAGE);
      const recent = !(page instanceof Promise);
      const sending = recent ? this.#sendPage(page, true) : page.then((entries) => this.#sendPage(entries, false));
      if (sending !== undefined) {
        sending.then(
          () => this.#pump(),
          (error) => (this.session.phase.kind === 'deleted' ? this.#pump() : this.#sink.fail(error)),
        );
        return;
      }
    }
    this.#busy = false;
  }

  /** @param recent they are in memory: others will be sent the same. */
  #sendPage(entries: Entry[], recent: boolean): Promise<void> | undefined {
    if (entries.length > 0) this.#dirty = true;
    else this.#atHead();
    return this.#sendEntries(entries, recent);
  }

  /** A promise from the first Entry on that must be waited for. Only its own blobs are in memory then, never a page's. */
  #sendEntries(entries: Entry[], recent: boolean): Promise<void> | undefined {
    for (const [index, entry] of entries.entries()) {
      if (this.#stopped || this.#sink.congested()) return undefined;
      const blobs = this.#blobsToShow(entry.event);
      if (blobs.length > 0) {
        return loadBlobs(this.#runtime.blobs, blobs).then((loaded) => {
          if (this.#stopped || this.#sink.congested()) return undefined;
          this.#sendEntry(entry, false, loaded);
          return this.#sendEntries(entries.slice(index + 1), recent);
        });
      }
      this.#sendEntry(entry, recent);
    }
    return undefined;
  }

  #blobsToShow(event: Event): BlobBlock[] {
    return event.type === 'user_message' && this.#own.has(event.data.messageId) ? [] : blobsOf(event);
  }

  /** @param recent its frames are kept for others while the entry is; those with blobs would be far too much to keep. */
  #sendEntry(entry: Entry, recent: boolean, blobs = NO_BLOBS): void {
    const { event } = entry;
    const messageId = 'messageId' in event.data ? event.data.messageId : undefined;
    const { live } = this.#position;
    const seen = live !== undefined && live.messageId === messageId ? live.offset : 0;
    if (live?.messageId === messageId) this.#position.live = undefined;
    this.#position.seq = event.seq;
    this.#position.chk = entry.chk;
    if (messageId === undefined || !this.#own.delete(messageId)) {
      const thoughts = event.seq > this.options.thoughtsAfter;
      const shared = recent && seen === 0 && this.#position.live === undefined && isForAll(event, thoughts);
      const make = () => this.#encode(event, seen, thoughts, blobs);
      const frames = shared ? sharedFrames(entry, this.options.cursors ? 'cursor' : 'plain', make) : make();
      for (const frame of frames) this.#sink.send(frame);
    }
    // Whoever watches cannot see from the updates alone that a Turn has begun or ended.
    const change = this.#isCaughtUp && this.options.announce ? stateFrame(event, () => this.cursor) : undefined;
    if (change !== undefined) this.#sink.send(change);
    if (event.type === 'tool_result') this.#shownOutputs.delete(event.data.callId);
    if (event.type === 'permission_decision') this.#withdraw(event.data.permissionId);
    if (event.type === 'permission_requested' && this.#isCaughtUp) this.#ask(event.data.permissionId);
    this.#settle();
  }

  /** The frames of an Event. Only the last one carries the cursor: a cut before it must bring all of them again. */
  #encode(event: Event, seen: number, thoughts: boolean, blobs: LoadedBlobs): string[] {
    const text =
      event.type === 'assistant_message' ? event.data.text : event.type === 'reasoning' ? event.data.summary : '';
    // The client has read more of this message than a crash left of it.
    const replace = seen > text.length;
    const configured = () => configOptions(this.session.state, this.#runtime.settings);
    const updates = updatesOf(event, {
      offset: replace ? 0 : seen,
      thoughts,
      compaction: this.options.compaction,
      blobs,
      configOptions: configured,
    });
    const promptKey = event.type === 'user_message' ? event.data.promptKey : undefined;
    // A message of several chunks begins with `replace`, so that being sent again changes nothing.
    const several = event.type === 'user_message' && updates.length > 1;
    return updates.map((update, index) => {
      const cursor = this.options.cursors && index === updates.length - 1;
      const first = index === 0 && (replace || several);
      return encodeUpdate(event.sessionId, update, this.#meta({ cursor, replace: first, promptKey }));
    });
  }

  #meta(rides: { cursor: boolean; replace?: boolean; promptKey?: string | undefined }): UpdateMeta | undefined {
    const meta: UpdateMeta = {
      ...(rides.cursor ? { cursor: this.cursor } : {}),
      ...(rides.replace && this.options.cursors ? { replace: true } : {}),
      ...(rides.promptKey ? { promptKey: rides.promptKey } : {}),
    };
    return Object.keys(meta).length > 0 ? meta : undefined;
  }

  /** Everything recorded has been sent: now what is still in motion. */
  #atHead(): void {
    const { live, outputs, id, state } = this.session;
    const mine = this.#position.live;
    // Text that was streamed, and that a crash left nothing of: the client has what nobody else will ever see.
    if (mine && mine.messageId !== live?.messageId)
      this.#sendLive(kindOfItem(mine.messageId), mine.messageId, '', true);
    if (live && live.after <= this.#position.seq) {
      const offset = mine?.messageId === live.messageId ? mine.offset : 0;
      const lost = offset > live.text.length;
      this.#sendLive(live.kind, live.messageId, live.text.slice(lost ? 0 : offset), lost, live.text.length);
    }
    for (const [callId, output] of outputs) {
      if (this.#shownOutputs.get(callId) === output) continue;
      if (typeof output !== 'string' && !this.#sink.hasTerminal(output.terminalId)) continue;
      this.#shownOutputs.set(callId, output);
      this.#sink.send(encodeUpdate(id, progressOf(callId, output)));
    }
    if (this.#isCaughtUp) return;
    this.#isCaughtUp = true;
    if (this.options.announce) this.#announce();
    for (const permissionId of state.permissions.keys()) this.#ask(permissionId);
    this.#caughtUp.resolve();
  }

  #sendLive(kind: LiveItem['kind'], messageId: string, text: string, replace: boolean, offset?: number): void {
    this.#position.live = offset === undefined ? undefined : { messageId, offset };
    if (text === '' && !(replace && this.options.cursors)) return;
    const content = { type: 'text' as const, text };
    const sessionUpdate = kind === 'message' ? 'agent_message_chunk' : 'agent_thought_chunk';
    const update: SessionUpdate = { sessionUpdate, messageId, content };
    this.#sink.send(encodeUpdate(this.session.id, update, this.#meta({ cursor: this.options.cursors, replace })));
  }

  #announce(): void {
    const { id: sessionId, state } = this.session;
    const permissions = [...state.permissions.keys()];
    const said: CaughtUp = { sessionId, cursor: this.cursor, state: state.turn ? 'running' : 'idle', permissions };
    this.#sink.send(encodeNotification('_pixir/session/caught_up', said));
  }

  #ask(permissionId: string): void {
    const pending = this.session.state.permissions.get(permissionId);
    // Decided already: this reader is behind, and its next entries will say so.
    if (!pending || this.#asked.has(permissionId)) return;
    if (this.options.role === 'observer' || !this.options.approves) return;
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

  /** Where a client is that has applied everything sent so far. */
  get cursor(): string {
    return encodeCursor(this.session.tail.epoch, this.#position);
  }
}
