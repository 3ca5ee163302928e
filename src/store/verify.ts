/**
 * Checks a stored Log from its first Event to its last. It must believe nothing that it can compute.
 */
import type { Database } from 'better-sqlite3';
import { type EventData, parseEvent } from '../core/event.ts';
import { chainCheck, type Entry, FIRST_CHK, type SessionRow } from '../core/log.ts';
import { effectsOf, type Row, unknownSession } from './record.ts';
import { blobChecker } from './sqlite-blobs.ts';

export type Verification =
  | { ok: true; events: number }
  | { ok: false; events: number; firstBad: { seq: number; reason: string } };

/**
 * Re-computes the chain of one Session, parses every Event in full, checks the blobs that it refers to, and compares
 * the Session's row with what the Events say.
 *
 * @throws CoreError `unknown_session`
 */
export function verifySession(db: Database, row: SessionRow | undefined, sessionId: string): Verification {
  if (row === undefined) throw unknownSession(sessionId);
  const rows = db.prepare<[string], Row>('SELECT seq, json, chk FROM events WHERE session_id = ? ORDER BY seq');
  const replayed: Replayed = { ...NOTHING, checkBlobs: blobChecker(db) };
  let seq = 0;
  for (const stored of rows.iterate(sessionId)) {
    const reason = replay(replayed, row, stored, seq);
    if (reason) return { ok: false, events: seq, firstBad: { seq, reason } };
    seq += 1;
  }
  if (row.head.seq >= seq) return { ok: false, events: seq, firstBad: { seq, reason: missing(seq) } };
  const reason = disagreement(replayed, row, seq);
  return reason ? { ok: false, events: seq, firstBad: { seq: seq - 1, reason } } : { ok: true, events: seq };
}

/** Checks the structure of the whole file. Each line of the result is one problem. */
export function verifyDatabase(db: Database): string[] {
  const lines = db.prepare<[], string>('PRAGMA integrity_check').pluck().all();
  return lines.filter((line) => line !== 'ok');
}

interface Replayed extends Pick<SessionRow, 'additionalDirectories' | 'title' | 'openTurnId'> {
  chk: string;
  checkBlobs: ReturnType<typeof blobChecker>;
}

const NOTHING = { chk: FIRST_CHK, additionalDirectories: [], title: null, openTurnId: null };

/** Advances `replayed` by one row; the reason, where the row cannot be the Event at `seq`. */
function replay(replayed: Replayed, row: SessionRow, stored: Row, seq: number): string | undefined {
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
  return replayed.checkBlobs(event);
}

function disagreement(replayed: Replayed, row: SessionRow, events: number): string | undefined {
  if (row.head.seq !== events - 1 || row.head.chk !== replayed.chk) return 'the head of the Session is another one';
  if (row.title !== replayed.title) return 'the list of Sessions has another title';
  if (row.openTurnId !== replayed.openTurnId) return 'the list of Sessions has another open Turn';
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
    return { event: parseEvent(JSON.parse(stored.json)), chk: stored.chk, size: stored.json.length };
  } catch {
    return undefined;
  }
}
