/**
 * Everything that only reads, over one connection: the reading half of the Log, and what an operator asks of it. It must
 * never write.
 */
import type { Database } from 'better-sqlite3';
import { isAbort } from '../core/errors.ts';
import type { TurnOutcome } from '../core/event.ts';
import type { Entry, LiveDraft, Log, SessionQuery, SessionRow, Snapshot, Verification } from '../core/log.ts';
import { backup } from './backup.ts';
import { type DatabaseOptions, openDatabaseReadOnly } from './database.ts';
import { decode, type Row } from './record.ts';
import { blobChecker } from './sqlite-blobs.ts';
import { readFailed } from './sqlite-errors.ts';
import { createVerifier, verifyDatabase } from './verify.ts';

export interface SqliteReader
  extends Pick<Log, 'read' | 'session' | 'sessions' | 'count' | 'draft' | 'snapshot' | 'close'> {
  /** @throws CoreError `unknown_session` */
  verifySession(sessionId: string, signal?: AbortSignal): Promise<Verification>;
  /** The problems in the structure of the file; none when it is sound. Reads all of it. */
  verifyDatabase(): Promise<string[]>;
  /** A consistent copy of everything committed. @throws CoreError `already_exists` */
  backupTo(file: string): Promise<void>;
}

/** For commands beside a running server. @throws CoreError `database_newer`, `database_corrupt`, `config_invalid` */
export function openReadOnly(options: DatabaseOptions): SqliteReader {
  return sqliteReader(openDatabaseReadOnly(options));
}

export function sqliteReader(db: Database): SqliteReader {
  const rows = db.prepare<[string, number, number], Row>(
    'SELECT seq, json, chk FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?',
  );
  const rowsFrom = db.prepare<[string, number], Row>(
    'SELECT seq, json, chk FROM events WHERE session_id = ? AND seq >= ? ORDER BY seq',
  );
  const drafts = db.prepare<[string], string>('SELECT json FROM drafts WHERE session_id = ?').pluck();
  const snapshots = db.prepare<[string], Snapshot>('SELECT seq, json, chk FROM snapshots WHERE session_id = ?');
  const session = db.prepare<[string], StoredSession>(`${SELECT_SESSIONS} WHERE session_id = ?`);
  const sessions = sessionQueries(db);
  const countAll = db.prepare<[], number>('SELECT count(*) FROM sessions').pluck();
  const countOf = db.prepare<[string], number>('SELECT count(*) FROM sessions WHERE owner = ?').pluck();

  const one = (sessionId: string): SessionRow | undefined => {
    const stored = session.get(sessionId);
    return stored && toSessionRow(stored);
  };
  const read = (sessionId: string, after: number, limit: number): Entry[] =>
    rows.all(sessionId, after, limit).map((row, index) => decode(sessionId, row, after + 1 + index));
  const draft = (sessionId: string): LiveDraft | undefined => {
    const json = drafts.get(sessionId);
    return json === undefined ? undefined : (JSON.parse(json) as LiveDraft);
  };
  const snapshot = reading((sessionId: string) => snapshots.get(sessionId));
  const verify = createVerifier({
    session: one,
    // Nothing was ever recorded before the first one.
    rows: (sessionId, from) => rowsFrom.iterate(sessionId, from || Number.MIN_SAFE_INTEGER),
    checkBlobs: blobChecker(db),
    atOnce: (look) => db.transaction(look)(),
  });

  return {
    read: reading(read),
    session: reading(one),
    sessions: reading(sessions),
    count: reading((owner?: string) => (owner === undefined ? countAll.get() : countOf.get(owner)) ?? 0),
    draft: reading(draft),
    // It can be done without: what else does not read, the Log will say.
    snapshot: (sessionId) => snapshot(sessionId).catch(() => undefined),
    verifySession: (sessionId, signal) =>
      verify(sessionId, signal).catch((thrown) => {
        throw isAbort(thrown) ? thrown : readFailed(thrown);
      }),
    verifyDatabase: reading(() => verifyDatabase(db)),
    backupTo: (file) => backup(db, file),
    close: async () => {
      db.close();
    },
  };
}

/** The queries that `SessionQuery` can make, each prepared when it is first asked. */
function sessionQueries(db: Database): (query: SessionQuery) => SessionRow[] {
  const prepare = (sql: string) => db.prepare<(string | number)[], StoredSession>(sql);
  const prepared = new Map<string, ReturnType<typeof prepare>>();
  return (query) => {
    const { where, values } = conditionsOf(query);
    const statement = prepared.get(where) ?? prepare(`${SELECT_SESSIONS} ${where} ${NEWEST_FIRST}`);
    prepared.set(where, statement);
    return statement.all(...values, query.limit ?? NO_LIMIT).map(toSessionRow);
  };
}

const SELECT_SESSIONS = `SELECT session_id, workspace, additional_directories, owner, title, created_at, updated_at,
  epoch, head_seq, head_chk, open_turn, outcome FROM sessions`;
const NEWEST_FIRST = 'ORDER BY updated_at DESC, session_id DESC LIMIT ?';
/** What a negative LIMIT means to SQLite. */
const NO_LIMIT = -1;

function conditionsOf(query: SessionQuery): { where: string; values: string[] } {
  const conditions: string[] = [];
  const values: string[] = [];
  const add = (condition: string, ...bound: string[]) => {
    conditions.push(condition);
    values.push(...bound);
  };
  if (query.owner !== undefined) add('owner = ?', query.owner);
  if (query.workspace !== undefined) add('workspace = ?', query.workspace);
  if (query.openTurn !== undefined) add(query.openTurn ? 'open_turn IS NOT NULL' : 'open_turn IS NULL');
  if (query.before) add('(updated_at, session_id) < (?, ?)', query.before.updatedAt, query.before.sessionId);
  return { where: conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '', values };
}

interface StoredSession {
  session_id: string;
  workspace: string;
  additional_directories: string;
  owner: string;
  title: string | null;
  created_at: string;
  updated_at: string;
  epoch: string;
  head_seq: number;
  head_chk: string;
  open_turn: string | null;
  outcome: TurnOutcome | null;
}

function toSessionRow(stored: StoredSession): SessionRow {
  return {
    sessionId: stored.session_id,
    workspace: stored.workspace,
    additionalDirectories: JSON.parse(stored.additional_directories) as string[],
    owner: stored.owner,
    title: stored.title,
    createdAt: stored.created_at,
    updatedAt: stored.updated_at,
    head: { epoch: stored.epoch, seq: stored.head_seq, chk: stored.head_chk },
    openTurnId: stored.open_turn,
    outcome: stored.outcome,
  };
}

/** Makes a synchronous read a promise, and what it throws a CoreError. */
function reading<A extends unknown[], R>(read: (...args: A) => R): (...args: A) => Promise<R> {
  return async (...args) => {
    try {
      return read(...args);
    } catch (thrown) {
      throw readFailed(thrown);
    }
  };
}
