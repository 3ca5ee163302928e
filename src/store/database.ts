/**
 * Opens the database file: private, durable, checked, and at the schema of this build. A connection must never be
 * handed out whose commits could be lost in a power cut.
 */
import { chmodSync, closeSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Clock } from '../core/clock.ts';
import { CoreError } from '../core/errors.ts';
import { migrate, pendingMigrations, readMigrations } from './migrate.ts';
import { damaged, openFailed } from './sqlite-errors.ts';

export interface DatabaseOptions {
  file: string;
  /** Where the numbered SQL files lie. */
  migrationsDir: string;
}

/** Older versions can corrupt a WAL database when one connection writes while another checkpoints. */
const OLDEST_SQLITE = '3.51.3';
/** Short: SQLite waits for a lock by blocking the whole process. */
const BUSY_MS = 250;
/** "PIXR": marks the file as ours. */
const APPLICATION_ID = 0x50495852;
const FULL = 2;

/** The one connection that writes. Creates the file where there is none, and brings its schema up to date. */
export function openDatabase(options: DatabaseOptions & { clock: Pick<Clock, 'now'> }): Database.Database {
  const known = readMigrations(options.migrationsDir);
  const create = () => {
    makePrivate(options.file);
    return new Database(options.file, { timeout: BUSY_MS });
  };
  return openChecked(options.file, create, (db) => {
    if (db.pragma('journal_mode = WAL', { simple: true }) !== 'wal') {
      throw new CoreError('config_invalid', `${options.file} must lie on a local disk: WAL is not possible there`);
    }
    // Said explicitly on every open: left to its default, this build of SQLite drops to NORMAL at the first write.
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    // What is deleted is overwritten: free pages, too, end up in backups.
    db.pragma('secure_delete = ON');
    // Before there are tables: a start that is cut between the two must leave a file that is ours. Also a real write on
    // every start: it shows that the disk takes one, and what `synchronous` is once it did.
    db.pragma(`application_id = ${APPLICATION_ID}`);
    migrate(db, known, () => options.clock.now());
    if (db.pragma('synchronous', { simple: true }) !== FULL) {
      throw new CoreError('internal', 'SQLite does not keep synchronous=FULL: commits would not be durable');
    }
  });
}

/** A connection that only reads, beside a running server or without one. */
export function openDatabaseReadOnly({ file, migrationsDir }: DatabaseOptions): Database.Database {
  const known = readMigrations(migrationsDir);
  const open = () => new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
  return openChecked(file, open, (db) => {
    if (pendingMigrations(db, known).length > 0) {
      const message = `${file} was written by an older Pixir: start the server once to update it`;
      throw new CoreError('config_invalid', message, { file });
    }
  });
}

function openChecked(
  file: string,
  open: () => Database.Database,
  prepare: (db: Database.Database) => void,
): Database.Database {
  let db: Database.Database | undefined;
  try {
    db = open();
    checkVersion(db);
    checkOwnership(db, file);
    prepare(db);
    return db;
  } catch (thrown) {
    db?.close();
    throw openFailed(file, thrown);
  }
}

/** SQLite gives its -wal and -shm files the mode of the database. */
function makePrivate(file: string): void {
  try {
    // Only ever to create it: closing a descriptor of a database that is in use would drop SQLite's locks on it.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(file, 0o600);
  }
}

function checkVersion(db: Database.Database): void {
  const version = db.prepare('SELECT sqlite_version()').pluck().get() as string;
  if (ordinal(version) < ordinal(OLDEST_SQLITE)) {
    throw new CoreError('internal', `SQLite ${version} can damage a database: Pixir needs ${OLDEST_SQLITE}`);
  }
}

/** Not `localeCompare`: it loads the tables of ICU, which costs every start 6 ms and 2 MiB. */
function ordinal(version: string): number {
  return version.split('.').reduce((sum, part) => sum * 1_000 + Number(part), 0);
}

/** Also the first read: SQLite then compares the header with the size of the file, and parses the schema. */
function checkOwnership(db: Database.Database, file: string): void {
  const id = db.pragma('application_id', { simple: true });
  const tables = db.prepare('SELECT count(*) FROM sqlite_master').pluck().get();
  if (id !== APPLICATION_ID && !(id === 0 && tables === 0)) throw damaged(file);
}
