/**
 * How an append becomes rows, and rows become entries: the rules of the Log that every backend shares. Pure; it must
 * never touch a store.
 */
import { randomBytes } from 'node:crypto';
import { CoreError } from '../core/errors.ts';
import { EVENT_TYPES, type Event, type EventDraft, newId, type TurnOutcome } from '../core/event.ts';
import { chainCheck, type Entry, FIRST_CHK, type Head } from '../core/log.ts';

/** One Event as it is stored. */
export interface Row {
  seq: number;
  json: string;
  chk: string;
}

/** What an append adds to its Session. */
export interface Staged {
  sessionId: string;
  rows: Row[];
  entries: Entry[];
  head: Head;
}

const knownTypes: ReadonlySet<string> = new Set(EVENT_TYPES);

/**
 * Stamps and encodes the drafts of one append, on top of `head` (undefined when there is no such Session).
 *
 * @throws CoreError `already_exists`, `unknown_session`, or `log_write_failed` for what is no canonical Event.
 */
export function stage(head: Head | undefined, drafts: readonly EventDraft[], ts: string): Staged {
  const sessionId = drafts[0]?.sessionId ?? '';
  const rows: Row[] = [];
  let { epoch, seq, chk } = head ?? { epoch: newEpoch(), seq: -1, chk: FIRST_CHK };
  for (const draft of drafts) {
    if (draft.sessionId !== sessionId) throw notLoggable('one append is one Session');
    if (!knownTypes.has(draft.type)) throw notLoggable(`${JSON.stringify(draft.type)} is not a type of the Log`);
    if (draft.type === 'session_created' && seq >= 0) throw alreadyExists(sessionId);
    if (draft.type !== 'session_created' && seq < 0) throw unknownSession(sessionId);
    seq += 1;
    const id = newId();
    const json = encode({ id, sessionId, seq, ts, type: draft.type, data: draft.data } as Event);
    chk = chainCheck(chk, id, json);
    rows.push({ seq, json, chk });
  }
  // Decoded from what is stored, so that whoever hears of an Event now and whoever reads it later see the same.
  return { sessionId, rows, entries: rows.map((row) => decode(sessionId, row, row.seq)), head: { epoch, seq, chk } };
}

/** @throws CoreError `log_corrupt` when the row is not the Event that belongs at `seq`. */
export function decode(sessionId: string, row: Row, seq: number): Entry {
  const event = parse(row.json);
  if (row.seq !== seq || event?.seq !== seq || event.sessionId !== sessionId || !knownTypes.has(event.type)) {
    throw new CoreError('log_corrupt', `the Log of this Session is damaged at event ${seq}`, { sessionId, seq });
  }
  return { event, chk: row.chk, size: Buffer.byteLength(row.json) };
}

/** What recorded Events change beside the Log itself; absent is unchanged. */
export interface Effects {
  title?: string;
  additionalDirectories?: string[];
  openTurnId?: string | null;
  outcome?: TurnOutcome;
  /** Tells whether the draft of this message is done with. */
  settles?: (messageId: string) => boolean;
}

export function effectsOf(entries: readonly Entry[]): Effects {
  const effects: Effects = {};
  const recorded = new Set<string>();
  let finished = false;
  for (const { event } of entries) {
    if (event.type === 'session_titled') effects.title = event.data.title.toWellFormed();
    if (event.type === 'session_created' || event.type === 'session_configured') {
      const { additionalDirectories } = event.data;
      if (additionalDirectories) effects.additionalDirectories = additionalDirectories;
    }
    if (event.type === 'turn_started') effects.openTurnId = event.data.turnId;
    if (event.type === 'assistant_message' || event.type === 'reasoning') recorded.add(event.data.messageId);
    if (event.type === 'turn_finished') {
      effects.openTurnId = null;
      effects.outcome = event.data.outcome;
      finished = true;
    }
  }
  if (finished || recorded.size > 0) effects.settles = (messageId) => finished || recorded.has(messageId);
  return effects;
}

export function newEpoch(): string {
  return randomBytes(12).toString('hex');
}

export function unknownSession(sessionId: string): CoreError {
  return new CoreError('unknown_session', 'there is no such Session', { sessionId });
}

export function alreadyExists(sessionId: string): CoreError {
  return new CoreError('already_exists', 'a Session with this id exists or existed', { sessionId });
}

function notLoggable(reason: string, cause?: unknown): CoreError {
  return new CoreError('log_write_failed', `this cannot be recorded: ${reason}`, {}, { cause });
}

function encode(event: Event): string {
  try {
    return JSON.stringify(event);
  } catch (cause) {
    throw notLoggable(`the data of ${event.type} is not JSON`, cause);
  }
}

function parse(json: string): Event | undefined {
  try {
    return JSON.parse(json) as Event;
  } catch {
    return undefined;
  }
}
