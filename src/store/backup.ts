/**
 * Copies a database that may be in use into one self-contained file. It must never replace a file, nor leave half a one.
 */
import { closeSync, openSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import Database from 'better-sqlite3';
import { CoreError } from '../core/errors.ts';
import { newEpoch } from './record.ts';
import { writeFailed } from './sqlite-errors.ts';
import { verifyDatabase } from './verify.ts';

/** @throws CoreError `already_exists`, `database_corrupt`, `log_write_failed`: there is no backup then. */
export async function backup(db: Database.Database, target: string): Promise<void> {
  const file = resolve(target);
  createPrivate(file);
  try {
    // In one step: SQLite starts over whenever another process commits between two.
    await db.backup(file, { progress: () => 2 ** 31 - 1 });
    seal(file);
  } catch (thrown) {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    throw writeFailed(thrown);
  }
}

/** Private from the start, and never somebody's file. */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw writeFailed(cause);
    throw new CoreError('already_exists', `${file} exists: choose another name`, { file }, { cause });
  }
}

/** One file without a WAL, checked, and with new epochs: clients of a restored server start over exactly once. */
function seal(file: string): void {
  const copy = new Database(file);
  try {
    copy.pragma('journal_mode = DELETE');
    const sessionIds = copy.prepare<[], string>('SELECT session_id FROM sessions').pluck().all();
    const renew = copy.prepare<[string, string]>('UPDATE sessions SET epoch = ? WHERE session_id = ?');
    copy.transaction(() => {
      for (const sessionId of sessionIds) renew.run(newEpoch(), sessionId);
    })();
    const problems = verifyDatabase(copy);
    if (problems.length > 0) throw new CoreError('database_corrupt', 'the database is damaged: there is no backup');
  } finally {
    copy.close();
  }
}
