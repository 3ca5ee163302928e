/**
 * The Log in memory: the reference implementation of the port, for tests. It must behave as every other backend does,
 * also in answering only after its commit, an event-loop turn later.
 */
import type { Blobs } from '../core/blobs.ts';
import type { Clock } from '../core/clock.ts';
import { type CoreError, toCoreError } from '../core/errors.ts';
import type { EventDraft } from '../core/event.ts';
import type { Entry, LiveDraft, Log, SessionQuery, SessionRow, Snapshot, VerifyLog } from '../core/log.ts';
import { type MemoryBlobs, memoryBlobs } from './memory-blobs.ts';
import { alreadyExists, decode, effectsOf, type Row, type Staged, stage, unknownSession } from './record.ts';
import { createVerifier } from './verify.ts';
import { writeQueue } from './write-queue.ts';

export interface MemoryLog extends Log {
  readonly blobs: Blobs;
  readonly verifySession: VerifyLog;
  /** Rejects the next append with this error, and records nothing of it. */
  failNext(error: CoreError): void;
  /** Rejects every append with this error until it is called with undefined. */
  failAll(error: CoreError | undefined): void;
}

interface Stored {
  row: SessionRow;
  rows: Row[];
  draft: LiveDraft | undefined;
  snapshot: Snapshot | undefined;
}

export function memoryLog(clock: Pick<Clock, 'now'>): MemoryLog {
  const sessions = new Map<string, Stored>();
  const deleted = new Set<string>();
  const queue = writeQueue((work) => work(), toCoreError);
  let failure: CoreError | undefined;
  let broken: CoreError | undefined;
  const blobs = memoryBlobs((sessionId, work) =>
    queue.enqueue(() => {
      if (broken) throw broken;
      existing(sessionId);
      return work();
    }),
  );

  function record(sessionId: string, drafts: readonly EventDraft[]): Entry[] {
    const refusal = broken ?? failure;
    failure = undefined;
    if (refusal) throw refusal;
    const session = sessions.get(sessionId);
    const ts = new Date(clock.now()).toISOString();
    const staged = stage(session?.row.head, drafts, ts);
    if (deleted.has(sessionId)) throw alreadyExists(sessionId);
    sessions.set(sessionId, advance(session ?? created(staged, ts), staged, ts));
    for (const { event } of staged.entries) blobs.keep(event);
    return staged.entries;
  }

  function existing(sessionId: string): Stored {
    const session = sessions.get(sessionId);
    if (session === undefined) throw unknownSession(sessionId);
    return session;
  }

  return {
    blobs: blobs.port,
    verifySession: verifierOf(sessions, blobs),
    append: async (drafts) => {
      const [first] = drafts;
      return first ? queue.enqueue(() => record(first.sessionId, drafts)) : [];
    },
    read: async (sessionId, after, limit) => page(sessions.get(sessionId)?.rows ?? [], sessionId, after + 1, limit),
    session: async (sessionId) => structuredClone(sessions.get(sessionId)?.row),
    sessions: async (query) => structuredClone(select([...sessions.values()], query)),
    count: async (owner) => select([...sessions.values()], owner === undefined ? {} : { owner }).length,
    saveDraft: (sessionId, draft) =>
      queue.enqueue(() => {
        existing(sessionId).draft = structuredClone(draft);
      }),
    draft: async (sessionId) => structuredClone(sessions.get(sessionId)?.draft),
    saveSnapshot: (sessionId, snapshot) =>
      queue.enqueue(() => {
        existing(sessionId).snapshot = { ...snapshot };
      }),
    snapshot: async (sessionId) => structuredClone(sessions.get(sessionId)?.snapshot),
    deleteSession: (sessionId) =>
      queue.enqueue(() => {
        existing(sessionId);
        sessions.delete(sessionId);
        blobs.release(sessionId);
        deleted.add(sessionId);
      }),
    failNext(error) {
      failure = error;
    },
    failAll(error) {
      broken = error;
    },
    close: async () => queue.flush(),
  };
}

function verifierOf(sessions: ReadonlyMap<string, Stored>, { check }: MemoryBlobs): VerifyLog {
  return createVerifier({
    session: (sessionId) => sessions.get(sessionId)?.row,
    rows: (sessionId, from) => sessions.get(sessionId)?.rows.slice(from) ?? [],
    checkBlobs: check,
    atOnce: (look) => look(),
  });
}

function page(rows: readonly Row[], sessionId: string, from: number, limit: number): Entry[] {
  return rows.slice(from, from + limit).map((row, index) => decode(sessionId, row, from + index));
}

function created({ sessionId, entries, head }: Staged, ts: string): Stored {
  const event = entries[0]?.event;
  if (event?.type !== 'session_created') throw unknownSession(sessionId);
  const workspace = event.data.workspace.toWellFormed();
  const owner = event.data.owner.toWellFormed();
  const nothing = { additionalDirectories: [], title: null, openTurnId: null, outcome: null };
  const row = { sessionId, workspace, owner, createdAt: ts, updatedAt: ts, head, ...nothing };
  return { row, rows: [], draft: undefined, snapshot: undefined };
}

function advance(session: Stored, { rows, entries, head }: Staged, updatedAt: string): Stored {
  const { settles, ...changed } = effectsOf(entries);
  session.rows.push(...rows);
  session.row = { ...session.row, ...changed, updatedAt, head };
  if (session.draft && settles?.(session.draft.messageId)) session.draft = undefined;
  return session;
}

function select(stored: readonly Stored[], query: SessionQuery): SessionRow[] {
  const { owner, workspace, openTurn, before } = query;
  const rows = stored
    .map(({ row }) => row)
    .filter((row) => owner === undefined || row.owner === owner)
    .filter((row) => workspace === undefined || row.workspace === workspace)
    .filter((row) => openTurn === undefined || (row.openTurnId !== null) === openTurn)
    .filter((row) => before === undefined || newestFirst(before, row) < 0)
    .sort(newestFirst);
  return rows.slice(0, query.limit);
}

type Place = Pick<SessionRow, 'updatedAt' | 'sessionId'>;

function newestFirst(a: Place, b: Place): number {
  if (a.updatedAt !== b.updatedAt) return a.updatedAt < b.updatedAt ? 1 : -1;
  if (a.sessionId === b.sessionId) return 0;
  return a.sessionId < b.sessionId ? 1 : -1;
}
