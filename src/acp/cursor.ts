/**
 * Cursors: positions as opaque strings. Pure. A cursor is no credential, and one that does not fit the Log exactly is
 * answered with a reset: all or reset, never a partial or silent recovery.
 */
import type { Entry, Head } from '../core/log.ts';
import type { Session } from '../core/session.ts';
import type { ResetReason } from './wire.ts';

/** How far a reader has come: everything up to `seq`, and of the live item the first `offset` UTF-16 code units. */
export interface Position {
  seq: number;
  /** The check value of the entry at `seq`. */
  chk: string;
  live?: { messageId: string; offset: number } | undefined;
}

/** Where a reader starts, and what that means for what it has already. */
export type Start =
  | { mode: 'current' | 'backfill'; position: Position }
  | { mode: 'reset'; reason: ResetReason; position: Position };

export const FROM_START: Position = { seq: -1, chk: '' };

export function encodeCursor(epoch: string, { seq, chk, live }: Position): string {
  const item = live ? `.${live.messageId}.${live.offset}` : '';
  return `p1.${epoch}.${seq}.${chk}${item}`;
}

/** Undefined when the text is no cursor of ours. */
function decodeCursor(text: string): (Head & Position) | undefined {
  const match = /^p1\.([0-9a-f]+)\.(\d{1,15})\.([0-9a-f]{12})(?:\.(\w{1,64})\.(\d{1,15}))?$/.exec(text);
  if (!match) return undefined;
  const [, epoch = '', seq, chk = '', messageId, offset] = match;
  const live = messageId === undefined ? undefined : { messageId, offset: Number(offset) };
  return { epoch, seq: Number(seq), chk, live };
}

/** The end of the Session as it is now: whoever starts here has seen everything, or wants none of it. */
export function headPosition({ tail: { seq, chk }, live }: Session): Position {
  return { seq, chk, live: live && { messageId: live.messageId, offset: live.text.length } };
}

/**
 * Judges a cursor against the Log.
 *
 * @param cursor absent: from the start; `head`: only what comes.
 */
export async function startAt(session: Session, cursor: string | undefined): Promise<Start> {
  if (cursor === undefined) return { mode: 'backfill', position: FROM_START };
  if (cursor === 'head') return { mode: 'current', position: headPosition(session) };
  const claimed = decodeCursor(cursor);
  const reason = claimed ? await misfit(session, claimed) : 'malformed';
  if (!claimed || reason) return { mode: 'reset', reason: reason ?? 'malformed', position: FROM_START };
  const { seq, chk, live } = claimed;
  const head = headPosition(session);
  const current = seq === head.seq && live?.messageId === head.live?.messageId && live?.offset === head.live?.offset;
  return { mode: current ? 'current' : 'backfill', position: { seq, chk, live } };
}

async function misfit(session: Session, { epoch, seq, chk }: Head): Promise<ResetReason | undefined> {
  const { tail } = session;
  if (epoch !== tail.epoch) return 'epoch_changed';
  if (seq > tail.seq) return 'ahead';
  const [entry]: Entry[] = await session.read(seq - 1, 1);
  return entry?.chk === chk ? undefined : 'diverged';
}
