/**
 * What SQLite throws, in the words of the runtime. Nothing of a statement or of stored data may get into a message.
 */
import Database from 'better-sqlite3';
import { CoreError, toCoreError } from '../core/errors.ts';

const OUT_OF_REACH = /^SQLITE_(CANTOPEN|READONLY|PERM|AUTH)/;

/** Why a write did not happen. */
export function writeFailed(thrown: unknown): CoreError {
  if (thrown instanceof CoreError) return thrown;
  return new CoreError(
    'log_write_failed',
    `nothing was recorded: ${writeReason(sqliteCode(thrown))}`,
    {},
    { cause: thrown },
  );
}

/** Why a read did not happen. */
export function readFailed(thrown: unknown): CoreError {
  if (thrown instanceof CoreError) return thrown;
  if (isDamage(sqliteCode(thrown))) {
    return new CoreError('log_corrupt', 'the database is damaged', {}, { cause: thrown });
  }
  return new CoreError('internal', 'the Log could not be read', {}, { cause: thrown });
}

/** Why the database could not be opened, and what to do. */
export function openFailed(file: string, thrown: unknown): CoreError {
  if (thrown instanceof CoreError) return thrown;
  const code = sqliteCode(thrown);
  const options = { cause: thrown };
  if (isDamage(code)) return damaged(file, options);
  if (code.startsWith('SQLITE_BUSY')) {
    return new CoreError('data_dir_locked', `another process is using ${file}: stop it first`, { file }, options);
  }
  if (code === 'SQLITE_FULL' || code.startsWith('SQLITE_IOERR')) {
    return new CoreError('log_write_failed', `cannot write ${file}: ${writeReason(code)}`, { file }, options);
  }
  if (code !== '' && !OUT_OF_REACH.test(code)) return toCoreError(thrown);
  return new CoreError('config_invalid', `cannot open ${file}: check that it exists and is yours`, { file }, options);
}

export function damaged(file: string, options?: ErrorOptions): CoreError {
  const advice = 'move it away with its -wal and -shm files, and put a backup in its place';
  return new CoreError('database_corrupt', `${file} is damaged or no Pixir database: ${advice}`, { file }, options);
}

function writeReason(code: string): string {
  if (code === 'SQLITE_FULL') return 'the disk is full';
  if (code.startsWith('SQLITE_IOERR')) return 'the disk reports an error or has no space left';
  if (code.startsWith('SQLITE_BUSY')) return 'another process holds the database';
  if (code.startsWith('SQLITE_READONLY')) return 'the database cannot be written';
  if (isDamage(code)) return 'the database is damaged';
  return 'the database refused it';
}

/** A short read is a file that was cut. */
function isDamage(code: string): boolean {
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB' || code === 'SQLITE_IOERR_SHORT_READ';
}

function sqliteCode(thrown: unknown): string {
  return thrown instanceof Database.SqliteError ? thrown.code : '';
}
