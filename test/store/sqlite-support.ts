/** A SQLite Log in a directory of its own, and what only a look at its file can tell. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Clock } from '../../src/core/clock.ts';
import { type DatabaseOptions, openDatabase } from '../../src/store/database.ts';
import { type SqliteLog, sqliteLog } from '../../src/store/sqlite-log.ts';
import { openReadOnly, type SqliteReader } from '../../src/store/sqlite-reader.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { tempDir } from '../support/temp-dir.ts';

export const migrationsDir = join(import.meta.dirname, '../../migrations');

export interface SqliteFixture extends AsyncDisposable, DatabaseOptions {
  dir: string;
  log: SqliteLog;
  /** The connection that the Log writes with. */
  db: Database.Database;
  /** Another connection, which only reads. */
  reader: SqliteReader;
  fillDisk(): void;
  freeDisk(): void;
  close(): Promise<void>;
}

export async function sqliteFixture(clock: Pick<Clock, 'now'> = fakeClock()): Promise<SqliteFixture> {
  const temp = await tempDir();
  const options = { file: join(temp.path, 'pixir.db'), migrationsDir };
  const db = openDatabase({ ...options, clock });
  const log = sqliteLog(db, clock);
  const reader = openReadOnly(options);
  const close = async () => {
    await reader.close();
    await log.close();
  };
  return {
    ...options,
    dir: temp.path,
    db,
    log,
    reader,
    close,
    // SQLite then fails as on a full disk, with SQLITE_FULL, as soon as the file would have to grow.
    fillDisk: () => db.pragma('max_page_count = 1'),
    freeDisk: () => db.pragma('max_page_count = 1000000'),
    async [Symbol.asyncDispose]() {
      await close();
      await temp[Symbol.asyncDispose]();
    },
  };
}

/** Changes a database behind the back of the store. */
export function tamper(file: string, sql: string): void {
  const db = new Database(file);
  db.unsafeMode();
  db.exec(sql);
  db.close();
}

/** How many transactions the WAL of this database holds: the frame that ends one names the size of the database. */
export function commitsInWal(file: string): number {
  const wal = readFileSync(`${file}-wal`);
  const salt = wal.subarray(16, 24);
  const frameSize = 24 + wal.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frameSize <= wal.length; at += frameSize) {
    if (!wal.subarray(at + 8, at + 16).equals(salt)) break;
    if (wal.readUInt32BE(at + 4) !== 0) commits += 1;
  }
  return commits;
}
