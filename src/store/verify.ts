/**
 * Checks a stored Log from its first Event to its last, a little at a time. It must believe nothing that it can compute.
 */
import type { Database } from 'better-sqlite3';
import { type Event, type EventData, parseEvent } from '../core/event.ts';
import { chainCheck, type Entry, FIRST_CHK, type SessionRow, type Verification } from '../core/log.ts';
import { effectsOf, type Row, unknownSession } from './record.ts';

/** What is stored, as a backend reads it. */
export interface Stored {
  session(sessionId: string): SessionRow | undefined;
  /** Everything from this seq on, in order. */
  rows(sessionId: string, from: number): Iterable<Row>;
  /** What is wrong with the blobs of an Event, if anything. */
  checkBlobs(event: Event): string | undefined;
  /** Runs its argument so that all it reads is of one moment. */
  atOnce<T>(look: () => T): T;
}

/** How long others wait at a time: each may need one Event more. */
const SLICE_MS = 5;

/**
 * Re-computes the chain of one Session, parses every Event in full, checks the blobs that it refers to, and compares
 * the Session's row with what the Events say. What is recorded meanwhile is checked as well.
 *
 * @returns checks one Session. @throws CoreError `unknown_session`, the signal's reason.
 */
export function createVerifier(stored: Stored): (sessionId: string, signal?: AbortSignal) => Promise<Verification> {
  let last: Promise<unknown> = Promise.resolve();
  /** One slice in each turn of the event loop, however many Sessions are being checked. */
  const nextTurn = () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return last;
  };
  return async (sessionId, signal) => {
    const replayed: Replayed = { ...NOTHING };
    for (;;) {
      await nextTurn();
      signal?.throwIfAborted();
      const verdict = stored.atOnce(() => checkSlice(stored, sessionId, replayed));
      if (verdict) return verdict;
    }
  };
}

/** Goes on with the Events behind those that were replayed; the verdict, once there is one. */
function checkSlice(stored: Stored, sessionId: string, replayed: Replayed): Verification | undefined {
  const row = stored.session(sessionId);
  if (row === undefined) throw unknownSession(sessionId);
  const end = performance.now() + SLICE_MS;
  for (const next of stored.rows(sessionId, replayed.events)) {
    const reason = replay(replayed, row, next, stored);
    if (reason) return bad(replayed.events, replayed.events, reason);
    replayed.events += 1;
    if (performance.now() > end) return undefined;
  }
  const { events, chk } = replayed;
  if (row.head.seq >= events) return bad(events, events, missing(events));
  const reason = disagreement(replayed, row);
  return reason ? bad(events, events - 1, reason) : { ok: true, events, chk };
}

function bad(events: number, seq: number, reason: string): Verification {
  return { ok: false, events, firstBad: { seq, reason } };
}

/** Checks the structure of the whole file. Each line of the result is one problem. */
export function verifyDatabase(db: Database): string[] {
  const lines = db.prepare<[], string>('PRAGMA integrity_check').pluck().all();
  return lines.filter((line) => line !== 'ok');
}

interface Replayed extends Pick<SessionRow, 'additionalDirectories' | 'title' | 'openTurnId' | 'outcome'> {
  events: number;
  chk: string;
}

const NOTHING = { events: 0, chk: FIRST_CHK, additionalDirectories: [], title: null, openTurnId: null, outcome: null };

/** Takes one row into `replayed`; the reason, where the row cannot be the next Event. */
function replay(replayed: Replayed, row: SessionRow, stored: Row, { checkBlobs }: Stored): string | undefined {
  const { events: seq } = replayed;
  if (stored.seq !== seq) return missing(seq);
  const entry = parseEntry(stored);
  if (entry === undefined) return 'it is not a valid Event';
  const { event } = entry;
  if (event.sessionId !== row.sessionId || event.seq !== seq) return 'it belongs elsewhere';
  if ((event.type === 'session_created') !== (seq === 0)) return 'a Session starts with session_created, once';
  if (event.type === 'session_created' && !belongsTo(row, event.data))
    return 'the list of Sessions has another owner or workspace';
  if (chainCheck(replayed.chk, event.id, stored.json) !== stored.chk) return 'the check value is wrong';
  const { settles: _, ...changed } = effectsOf([entry]);
  Object.assign(replayed, changed, { chk: stored.chk });
  return checkBlobs(event);
}

function disagreement(replayed: Replayed, row: SessionRow): string | undefined {
  if (row.head.seq !== replayed.events - 1 || row.head.chk !== replayed.chk)
    return 'the head of the Session is another one';
  if (row.title !== replayed.title) return 'the list of Sessions has another title';
  if (row.openTurnId !== replayed.openTurnId) return 'the list of Sessions has another open Turn';
  if (row.outcome !== replayed.outcome) return 'the list of Sessions has another outcome';
  if (JSON.stringify(row.additionalDirectories) !== JSON.stringify(replayed.additionalDirectories))
    return 'the list of Sessions has other additional directories';
  return undefined;
}

function belongsTo(row: SessionRow, { owner, workspace }: EventData['session_created']): boolean {
  return owner.toWellFormed() === row.owner && workspace.toWellFormed() === row.workspace;
}

function missing(seq: number): string {
  return `event ${seq} is missing`;
}

function parseEntry(stored: Row): Entry | undefined {
  try {
    return { event: parseEvent(JSON.parse(stored.json)), chk: stored.chk, size: Buffer.byteLength(stored.json) };
  } catch {
    return undefined;
  }
}
