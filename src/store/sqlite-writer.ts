/**
 * The writes of the Log as statements. Each must run inside a transaction of the caller, and must throw its CoreError
 * before it has changed anything.
 */
import type { Database } from 'better-sqlite3';
import { CoreError } from '../core/errors.ts';
import type { EventDraft } from '../core/event.ts';
import type { Entry, Head, LiveDraft, Snapshot } from '../core/log.ts';
import { keepHeads } from './heads.ts';
import { alreadyExists, effectsOf, type Staged, stage, unknownSession } from './record.ts';
import { sqliteBlobs } from './sqlite-blobs.ts';

export interface SqliteWriter {
  record(sessionId: string, drafts: readonly EventDraft[]): Entry[];
  saveDraft(sessionId: string, draft: LiveDraft): void;
  saveSnapshot(sessionId: string, snapshot: Snapshot): void;
  deleteSession(sessionId: string): void;
  /** To be called when a transaction failed: what was derived from it is derived again from the database. */
  forget(): void;
}

const MAX_HEADS = 1000;

/** @param now the time as ISO 8601. */
export function sqliteWriter(db: Database, now: () => string): SqliteWriter {
  const sql = prepareStatements(db);
  const blobs = sqliteBlobs(db);
  const heads = keepHeads(MAX_HEADS, (sessionId) => loadHead(sql, sessionId));
  return {
    forget: heads.clear,
    record(sessionId, drafts) {
      const head = heads.get(sessionId);
      const ts = now();
      const staged = stage(head, drafts, ts);
      if (head === undefined) insertSession(sql, staged, ts);
      for (const { seq, json, chk } of staged.rows) sql.insertEvent.run(sessionId, seq, json, chk);
      for (const { event } of staged.entries) blobs.keep(event);
      updateSession(sql, staged, ts);
      heads.set(sessionId, staged.head);
      return staged.entries;
    },
    saveDraft(sessionId, draft) {
      if (heads.get(sessionId) === undefined) throw unknownSession(sessionId);
      sql.saveDraft.run(sessionId, draft.messageId, JSON.stringify(draft));
    },
    saveSnapshot(sessionId, { seq, json, chk }) {
      if (heads.get(sessionId) === undefined) throw unknownSession(sessionId);
      sql.saveSnapshot.run(sessionId, seq, json, chk);
    },
    deleteSession(sessionId) {
      if (sql.head.get(sessionId) === undefined) throw unknownSession(sessionId);
      heads.delete(sessionId);
      blobs.release(sessionId);
      sql.deleteDraft.run(sessionId);
      sql.deleteSnapshot.run(sessionId);
      sql.deleteEvents.run(sessionId);
      sql.deleteSession.run(sessionId);
      sql.insertDeleted.run(sessionId, now());
    },
  };
}

/** Also compares the row with the last Event: appending to a broken chain would hide where it broke. */
function loadHead(sql: Statements, sessionId: string): Head | undefined {
  const stored = sql.head.get(sessionId);
  if (stored === undefined) return undefined;
  const { epoch, seq, chk, tail } = stored;
  if (tail !== `${seq} ${chk}`) {
    throw new CoreError('log_corrupt', 'the Log of this Session does not end where it should', { sessionId });
  }
  return { epoch, seq, chk };
}

function insertSession(sql: Statements, { sessionId, entries, head }: Staged, ts: string): void {
  if (sql.wasDeleted.get(sessionId) !== undefined) throw alreadyExists(sessionId);
  const event = entries[0]?.event;
  if (event?.type !== 'session_created') throw unknownSession(sessionId);
  const workspace = event.data.workspace.toWellFormed();
  const owner = event.data.owner.toWellFormed();
  sql.insertSession.run({ sessionId, workspace, owner, ts, epoch: head.epoch });
}

function updateSession(sql: Statements, { sessionId, entries, head }: Staged, ts: string): void {
  const { title = null, outcome = null, additionalDirectories, openTurnId, settles } = effectsOf(entries);
  const directories = additionalDirectories ? JSON.stringify(additionalDirectories) : null;
  const [openTurnChanged, openTurn] = openTurnId === undefined ? [0, null] : [1, openTurnId];
  const { seq, chk } = head;
  sql.updateSession.run({ sessionId, ts, seq, chk, title, outcome, directories, openTurn, openTurnChanged });
  if (settles === undefined) return;
  const messageId = sql.draftMessageId.get(sessionId);
  if (messageId !== undefined && settles(messageId)) sql.deleteDraft.run(sessionId);
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(db: Database) {
  return {
    head: db.prepare<[string], Head & { tail: string | null }>(`
      SELECT epoch, head_seq AS seq, head_chk AS chk, (
        SELECT seq || ' ' || chk FROM events WHERE session_id = s.session_id ORDER BY seq DESC LIMIT 1
      ) AS tail FROM sessions s WHERE session_id = ?`),
    insertSession: db.prepare<[Record<'sessionId' | 'workspace' | 'owner' | 'ts' | 'epoch', string>]>(`
      INSERT INTO sessions (session_id, workspace, owner, created_at, updated_at, epoch, head_seq, head_chk)
      VALUES (@sessionId, @workspace, @owner, @ts, @ts, @epoch, -1, '')`),
    insertEvent: db.prepare<[string, number, string, string]>(
      'INSERT INTO events (session_id, seq, json, chk) VALUES (?, ?, ?, ?)',
    ),
    updateSession: db.prepare<[Record<string, string | number | null>]>(`
      UPDATE sessions SET head_seq = @seq, head_chk = @chk, updated_at = @ts, title = coalesce(@title, title),
        outcome = coalesce(@outcome, outcome),
        additional_directories = coalesce(@directories, additional_directories),
        open_turn = iif(@openTurnChanged, @openTurn, open_turn) WHERE session_id = @sessionId`),
    draftMessageId: db.prepare<[string], string>('SELECT message_id FROM drafts WHERE session_id = ?').pluck(),
    saveDraft: db.prepare<[string, string, string]>(`
      INSERT INTO drafts (session_id, message_id, json) VALUES (?, ?, ?)
      ON CONFLICT (session_id) DO UPDATE SET message_id = excluded.message_id, json = excluded.json`),
    deleteDraft: db.prepare<[string]>('DELETE FROM drafts WHERE session_id = ?'),
    saveSnapshot: db.prepare<[string, number, string, string]>(
      'INSERT OR REPLACE INTO snapshots (session_id, seq, json, chk) VALUES (?, ?, ?, ?)',
    ),
    deleteSnapshot: db.prepare<[string]>('DELETE FROM snapshots WHERE session_id = ?'),
    deleteEvents: db.prepare<[string]>('DELETE FROM events WHERE session_id = ?'),
    deleteSession: db.prepare<[string]>('DELETE FROM sessions WHERE session_id = ?'),
    insertDeleted: db.prepare<[string, string]>('INSERT INTO deleted_sessions (session_id, deleted_at) VALUES (?, ?)'),
    wasDeleted: db.prepare<[string], 1>('SELECT 1 FROM deleted_sessions WHERE session_id = ?').pluck(),
  };
}
