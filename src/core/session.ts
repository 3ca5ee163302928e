/**
 * One live Session: the single writer of its Log and the only holder of its running Turn. It records (append, commit,
 * then publish) and never publishes what was not committed; it knows no client and no protocol.
 */
import type { Bus } from './bus.ts';
import type { Clock } from './clock.ts';
import { CUT_OFF, closingEvents, type TurnEnding } from './closing.ts';
import { CoreError } from './errors.ts';
import type { Beginning, EventDraft, EventType } from './event.ts';
import { emptyHistory, type History } from './history.ts';
import { type LazyHistory, lazyHistory } from './lazy-history.ts';
import { beginItem, draftOf, type LiveItem, untilNextDraft } from './live-item.ts';
import type { Entry, Head, Log } from './log.ts';
import { assertThere, type Phase, type TurnEnd } from './phase.ts';
import { recentEntries } from './recent.ts';
import { applyToState, type SessionState } from './session-state.ts';
import { beginningWith, type Folded, latestFold, takeSnapshot } from './snapshot.ts';
import type { Progress } from './tool.ts';

export interface SessionPorts {
  log: Log;
  bus: Bus;
  clock: Clock;
  /** Hears of failures that nobody waits for: a draft that could not be saved, a listener that threw. */
  onError(error: unknown): void;
}

const PAGE = 1_000;
/** Opening folds so many Events in about a millisecond: fewer are not worth a snapshot. */
const SNAPSHOT_INTERVAL = 256;

export class Session {
  readonly id: string;
  readonly #ports: SessionPorts;
  readonly #state: SessionState;
  readonly #recent = recentEntries();
  readonly #history: LazyHistory;
  #epoch = '';
  #head: number;
  #chk: string;
  /** The seq of the newest snapshot. */
  #saved: number;
  #live: LiveItem | undefined;
  #outputs = new Map<string, Progress>();
  #cancelDraft: (() => void) | undefined;
  #lastEnd: TurnEnd | undefined;
  #recovery: Promise<void> | undefined;
  phase: Phase = { kind: 'idle' };
  /** Titles of a client's that are on their way to the Log: a Turn that ends meanwhile makes none up. */
  titling = 0;

  private constructor(id: string, ports: SessionPorts, { state, seq, chk }: Folded, history?: History) {
    this.id = id;
    this.#ports = ports;
    this.#state = state;
    this.#head = seq;
    this.#saved = seq;
    this.#chk = chk;
    this.#history = lazyHistory(this, history);
  }

  /** Records the beginning, whole or not at all, and returns the Session that begins with it. */
  static async create(ports: SessionPorts, beginning: Beginning): Promise<Session> {
    const entries = await ports.log.append(beginning);
    const [first] = entries;
    if (!first) throw new CoreError('internal', 'an append recorded nothing');
    const session = new Session(beginning[0].sessionId, ports, beginningWith(first), emptyHistory());
    await session.#learnEpoch();
    session.#publish(entries);
    return session;
  }

  /**
   * Rebuilds a Session from its Log, or from a snapshot and what came after it. A Turn that a crash left open makes it
   * `stranded`, with the draft as its live item.
   *
   * @throws CoreError `unknown_session`, `log_corrupt`, `log_write_failed`.
   */
  static async open(ports: SessionPorts, id: string): Promise<Session> {
    const session = new Session(id, ports, await latestFold(ports.log, id));
    await session.#learnEpoch();
    await session.#catchUp();
    session.#saveSnapshot();
    if (session.#state.turn) {
      session.phase = { kind: 'stranded' };
      await session.#adoptDraft();
    }
    return session;
  }

  get state(): Readonly<SessionState> {
    return this.#state;
  }

  /** The seq of the newest Event that readers may see. */
  get head(): number {
    return this.#head;
  }

  /** The head as a position that can be named to others: its epoch and check value with it. */
  get tail(): Head {
    return { epoch: this.#epoch, seq: this.#head, chk: this.#chk };
  }

  get live(): Readonly<LiveItem> | undefined {
    return this.#live;
  }

  /** What is shown of each tool that is running, by callId. */
  get outputs(): ReadonlyMap<string, Progress> {
    return this.#outputs;
  }

  /** Up to `limit` entries after `after`, never beyond the head. Answers from memory when it can. */
  read(after: number, limit: number): Entry[] | Promise<Entry[]> {
    if (after >= this.#head) return [];
    const entries = this.#recent.read(after, limit);
    return entries ?? this.#ports.log.read(this.id, after, Math.min(limit, this.#head - after));
  }

  /** What the model is shown. @throws the signal's reason; CoreError `log_corrupt`. */
  history(signal: AbortSignal): Promise<Readonly<History>> {
    return this.#history.get(signal);
  }

  /**
   * Appends, waits for the commit, then publishes. Nothing that failed to persist is ever seen.
   *
   * @throws CoreError `log_write_failed`: the Session is faulted until `recover`; `unknown_session`: it was deleted.
   */
  async record(drafts: readonly EventDraft[]): Promise<Entry[]> {
    assertThere(this);
    if (this.phase.kind === 'faulted') throw new CoreError('log_write_failed', 'the Log refused an earlier write');
    const entries = await this.#append(drafts);
    this.#publish(entries);
    return entries;
  }

  /** Adds text to the live item, beginning one where none of this kind streams. */
  addDelta(turnId: string, kind: LiveItem['kind'], text: string): void {
    if (text === '') return;
    if (this.#live?.kind !== kind) this.#live = beginItem(turnId, kind, this.#head);
    const live = this.#live;
    const offset = live.text.length;
    live.text += text;
    this.#cancelDraft ??= this.#ports.clock.after(untilNextDraft(this.#ports.clock.now()), () => this.#saveDraft());
    this.#ports.bus.publish(this.id, { type: 'delta', messageId: live.messageId, kind, offset, text });
  }

  /** The id that the completed item of this kind must carry: the live one's, or a new one when nothing streamed. */
  itemId(turnId: string, kind: LiveItem['kind']): string {
    return (this.#live?.kind === kind ? this.#live : beginItem(turnId, kind, this.#head)).messageId;
  }

  /** Shows something of a running tool; it replaces what was shown before. */
  showOutput(callId: string, output: Progress): void {
    if (!this.#state.openCalls.has(callId)) return;
    this.#outputs.set(callId, output);
    this.#ports.bus.publish(this.id, { type: 'tool_output', callId, output });
  }

  /**
   * Records how the open Turn ended, together with `last`, and makes room for the next one in the same tick.
   *
   * @throws CoreError `log_write_failed`: the Turn is still open; calling again reads the Log anew and closes it.
   */
  async finishTurn(ending: TurnEnding, last: readonly EventDraft[] = []): Promise<TurnEnd> {
    if (this.phase.kind === 'faulted') {
      await this.recover(ending);
    } else {
      // An item that is committed with the end is complete, not cut off.
      const complete = last.some(({ data }) => 'messageId' in data && data.messageId === this.#live?.messageId);
      const live = complete ? undefined : this.#live;
      const entries = await this.#append([...last, ...closingEvents(this.#state, ending, live, this.titling === 0)]);
      this.phase = { kind: 'idle' };
      this.#publish(entries);
    }
    if (!this.#lastEnd) throw new CoreError('internal', 'no Turn was open');
    return this.#lastEnd;
  }

  /** Leaves the Turn open, with its text so far, for the next process. @throws CoreError `turn_suspended`, always. */
  async suspendTurn(): Promise<never> {
    this.phase = { kind: 'stranded' };
    this.#cancelDraft?.();
    if (this.#live) await this.#ports.log.saveDraft(this.id, draftOf(this.#live));
    throw new CoreError('turn_suspended', 'the server stops; the Turn goes on when it is back');
  }

  /** Reads the Log again after a failed write and closes what it left open. Does nothing to a healthy Session. */
  async recover(ending: TurnEnding = CUT_OFF): Promise<void> {
    if (this.phase.kind !== 'faulted') return;
    this.#recovery ??= this.#recover(ending).finally(() => {
      this.#recovery = undefined;
    });
    await this.#recovery;
  }

  async #recover(ending: TurnEnding): Promise<void> {
    const { seq, chk } = this.tail;
    const [newest] = await this.#ports.log.read(this.id, seq - 1, 1);
    if (newest?.chk !== chk) throw new CoreError('log_corrupt', 'the Log has lost what it had recorded', { seq });
    await this.#learnEpoch();
    await this.#catchUp();
    this.#ports.bus.publish(this.id, { type: 'committed', seq: this.#head });
    await this.#closeLeftover(ending);
    this.phase = { kind: 'idle' };
  }

  async #append(drafts: readonly EventDraft[]): Promise<Entry[]> {
    // A draft that came due while its message is being committed would be written after it, and outlive it.
    if (drafts.some(({ data }) => 'messageId' in data && data.messageId === this.#live?.messageId)) this.#dropDraft();
    try {
      return await this.#ports.log.append(drafts);
    } catch (error) {
      this.phase = { kind: 'faulted', turn: 'turn' in this.phase ? this.phase.turn : undefined };
      throw error;
    }
  }

  async #closeLeftover(ending: TurnEnding): Promise<void> {
    if (!this.#state.turn) return;
    if (!this.#live) await this.#adoptDraft();
    this.#publish(await this.#append(closingEvents(this.#state, ending, this.#live, this.titling === 0)));
  }

  /** What was checkpointed of the item that streamed is shown and closed like the item itself. */
  async #adoptDraft(): Promise<void> {
    const draft = await this.#ports.log.draft(this.id);
    if (draft) this.#live = { ...draft, after: this.#head };
  }

  async #learnEpoch(): Promise<void> {
    const row = await this.#ports.log.session(this.id);
    if (!row) throw new CoreError('unknown_session', 'unknown session', { sessionId: this.id });
    this.#epoch = row.head.epoch;
  }

  /** Applies what the Log has and this Session has not. */
  async #catchUp(): Promise<void> {
    for (;;) {
      const page = await this.#ports.log.read(this.id, this.#head, PAGE);
      if (page.length === 0) break;
      for (const entry of page) this.#apply(entry);
    }
  }

  #publish(entries: Entry[]): void {
    for (const entry of entries) this.#apply(entry);
    this.#ports.bus.publish(this.id, { type: 'committed', seq: this.#head });
    if (!this.#state.turn && this.phase.kind !== 'deleting') this.#saveSnapshot();
  }

  #apply(entry: Entry): void {
    const { event } = entry;
    // Committed by one and read again by another in the same moment.
    if (event.seq <= this.#head) return;
    if (event.seq !== this.#head + 1) {
      throw new CoreError('log_corrupt', 'the Log has a gap', { expected: this.#head + 1, found: event.seq });
    }
    applyToState(this.#state, event);
    this.#history.advance(event);
    this.#forgetLive(event.type, 'messageId' in event.data ? event.data.messageId : undefined);
    if (event.type === 'tool_result') this.#outputs.delete(event.data.callId);
    if (event.type === 'turn_finished') {
      this.#lastEnd = { turnId: event.data.turnId, stopReason: event.data.stopReason, seq: event.seq };
    }
    this.#head = event.seq;
    this.#chk = entry.chk;
    this.#recent.push(entry);
  }

  /** The commit of an item and the end of its live text are one moment: nobody can see both, or neither. */
  #forgetLive(type: EventType, messageId: string | undefined): void {
    if (!this.#live || (messageId !== this.#live.messageId && type !== 'turn_finished')) return;
    this.#live = undefined;
    this.#dropDraft();
  }

  #dropDraft(): void {
    this.#cancelDraft?.();
    this.#cancelDraft = undefined;
  }

  /** Only now and then, and the rarer the more prompts it must name: all snapshots together cost less than the Log. */
  #saveSnapshot(): void {
    if (this.#head - this.#saved < Math.max(SNAPSHOT_INTERVAL, this.#state.prompts.size)) return;
    this.#saved = this.#head;
    const snapshot = takeSnapshot({ state: this.#state, seq: this.#head, chk: this.#chk });
    this.#ports.log.saveSnapshot(this.id, snapshot).catch(this.#ports.onError);
  }

  #saveDraft(): void {
    this.#cancelDraft = undefined;
    if (!this.#live) return;
    this.#ports.log.saveDraft(this.id, draftOf(this.#live)).catch(this.#ports.onError);
  }
}
