/**
 * The Log port: the append-only record of every Session, and the only truth. `append` resolves after the commit, never
 * before; what it rejects was not recorded.
 */
import { hash } from 'node:crypto';
import type { Event, EventDraft, TurnOutcome } from './event.ts';

/** One recorded Event and the check value that chains it to everything before it. */
export interface Entry {
  event: Event;
  chk: string;
  /** How many bytes its JSON has. */
  size: number;
}

/** Where a Session's Log ends. `epoch` changes when the record was replaced (import, restore, repair). */
export interface Head {
  epoch: string;
  seq: number;
  chk: string;
}

/** What a check of a whole Log found. `chk` is that of its newest Event. */
export type Verification =
  | { ok: true; events: number; chk: string }
  | { ok: false; events: number; firstBad: { seq: number; reason: string } };

/**
 * Re-computes the check chain of a Session and compares with it whatever else is stored of the Session, a few
 * milliseconds at a time. @throws CoreError `unknown_session`.
 */
export type VerifyLog = (sessionId: string, signal: AbortSignal) => Promise<Verification>;

/** The text so far of the item that is streaming: not an Event, and no part of the record. */
export interface LiveDraft {
  turnId: string;
  messageId: string;
  kind: 'message' | 'thought';
  text: string;
}

/** A copy of the session state after the Event `seq`. `chk` tells whether it fits the Log. */
export interface Snapshot {
  seq: number;
  json: string;
  chk: string;
}

/** One line of the list of Sessions. Times are ISO 8601 UTC. */
export interface SessionRow {
  sessionId: string;
  workspace: string;
  additionalDirectories: string[];
  owner: string;
  title: string | null;
  createdAt: string;
  updatedAt: string;
  head: Head;
  /** The Turn that has started and not finished, if any: what a crash leaves open. */
  openTurnId: string | null;
  /** How the last Turn that has ended did; null when none has. */
  outcome: TurnOutcome | null;
}

/** `before` is exclusive and names the last row of the page before; rows come newest `updatedAt` first. */
export interface SessionQuery {
  owner?: string;
  workspace?: string;
  openTurn?: boolean;
  before?: { updatedAt: string; sessionId: string };
  limit?: number;
}

export interface Log {
  /**
   * Records Events of one Session in one transaction, in the order given, and gives them `id`, `seq` and `ts`.
   * The first Event of a Session is `session_created`, with seq 0; it creates the Session. Recording an
   * `assistant_message` or `reasoning` clears the draft of the same messageId; `turn_finished` clears any draft.
   *
   * @throws CoreError `already_exists`, `unknown_session`, or `log_write_failed` (disk full, I/O error): nothing was recorded.
   */
  append(drafts: readonly EventDraft[]): Promise<Entry[]>;

  /** Up to `limit` entries with seq greater than `after` (-1 for the start), in order; [] for an unknown Session. */
  read(sessionId: string, after: number, limit: number): Promise<Entry[]>;

  /** One row, or undefined when there is no such Session. */
  session(sessionId: string): Promise<SessionRow | undefined>;

  sessions(query: SessionQuery): Promise<SessionRow[]>;

  /** How many Sessions there are, in all or of one owner. */
  count(owner?: string): Promise<number>;

  /** Keeps the text so far of the live item, so that a crash loses at most what came since. Replaces the earlier draft. */
  saveDraft(sessionId: string, draft: LiveDraft): Promise<void>;

  draft(sessionId: string): Promise<LiveDraft | undefined>;

  /** Keeps a snapshot in place of the one before. Only a cache: it may be lost at any time. */
  saveSnapshot(sessionId: string, snapshot: Snapshot): Promise<void>;

  /** Undefined also when there is one that cannot be read. */
  snapshot(sessionId: string): Promise<Snapshot | undefined>;

  /**
   * Removes a Session with all that is stored of it; the id is not given out again.
   *
   * @throws CoreError `unknown_session`, `log_write_failed`: nothing was removed.
   */
  deleteSession(sessionId: string): Promise<void>;

  close(): Promise<void>;
}

/** The check value before the first Event. */
export const FIRST_CHK = '';

/** chk(n) = first 12 hex digits of SHA-256(chk(n-1) + id + json), where json is the Event exactly as stored. */
export function chainCheck(previous: string, id: string, json: string): string {
  return hash('sha256', previous + id + json, 'hex').slice(0, 12);
}
