/**
 * The Log on SQLite: one connection, one queue of writes, and readers that see what was committed. Only one process may
 * have it open at a time (see data-dir).
 */
import type { Database } from 'better-sqlite3';
import type { Blobs } from '../core/blobs.ts';
import type { Clock } from '../core/clock.ts';
import { CoreError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { type DatabaseOptions, openDatabase } from './database.ts';
import { blobPort } from './sqlite-blobs.ts';
import { writeFailed } from './sqlite-errors.ts';
import { type SqliteReader, sqliteReader } from './sqlite-reader.ts';
import { sqliteWriter } from './sqlite-writer.ts';
import { type WriteStats, writeQueue } from './write-queue.ts';

export interface SqliteLog extends Log, SqliteReader {
  readonly blobs: Blobs;
  /** Takes the write lock and gives it back. @throws CoreError `log_write_failed` when nothing could be recorded now. */
  probe(): Promise<void>;
  /** For metrics: how many commits, and how many writes shared them. */
  readonly stats: Readonly<WriteStats>;
}

/** @throws CoreError `database_newer`, `database_corrupt`, `data_dir_locked`, `config_invalid`, `log_write_failed` */
export function openSqliteLog(options: DatabaseOptions & { clock: Pick<Clock, 'now'> }): SqliteLog {
  return sqliteLog(openDatabase(options), options.clock);
}

/** @param db from `openDatabase`; it belongs to the Log from now on. */
export function sqliteLog(db: Database, clock: Pick<Clock, 'now'>): SqliteLog {
  const reader = sqliteReader(db);
  const writer = sqliteWriter(db, () => new Date(clock.now()).toISOString());
  const transaction = db.transaction((work: () => void) => work());
  const queue = writeQueue(transaction.immediate, (thrown) => {
    writer.forget();
    return writeFailed(thrown);
  });

  async function write<T>(work: () => T): Promise<T> {
    if (!db.open) throw new CoreError('log_write_failed', 'nothing was recorded: the Log is closed');
    return queue.enqueue(work);
  }

  return {
    ...reader,
    stats: queue.stats,
    blobs: blobPort(db, write),
    append: async (drafts) => {
      const [first] = drafts;
      return first ? write(() => writer.record(first.sessionId, drafts)) : [];
    },
    probe: () => write(() => undefined),
    saveDraft: (sessionId, draft) => write(() => writer.saveDraft(sessionId, draft)),
    saveSnapshot: (sessionId, snapshot) => write(() => writer.saveSnapshot(sessionId, snapshot)),
    deleteSession: (sessionId) => write(() => writer.deleteSession(sessionId)),
    close: async () => {
      queue.flush();
      db.close();
    },
  };
}
