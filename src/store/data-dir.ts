/**
 * Claims the data directory for this process. The claim is a lock of the operating system, not a file: it must end with
 * the process, however that ends.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { CoreError } from '../core/errors.ts';
import { refuseNetwork } from './file-system.ts';

/** What the holder says of itself in `server.json`. */
export interface Holder {
  pid: number;
  startedAt: string;
  /** It is a server: it listens, or soon will. */
  serves: boolean;
  /** Where it can be reached, once it listens. */
  url?: string;
  /** The certificate with which it proves there that it is itself, as PEM; absent without TLS. */
  certificate?: string;
}

export interface DataDirLock {
  /** Tells other processes where this one can be reached. */
  announce(url: string, certificate?: string): void;
  release(): void;
}

/**
 * Creates the directory if need be (0700) and takes it.
 *
 * @throws CoreError `data_dir_locked` when another process has it, with what is known of the holder in the details;
 *   `config_invalid` when it cannot be used.
 */
export function claimDataDir(dir: string, { serves = false }: { serves?: boolean } = {}): DataDirLock {
  prepareDirectory(dir);
  const lock = takeLock(dir);
  claims.add(lock);
  const holder: Holder = { pid: process.pid, startedAt: new Date(performance.timeOrigin).toISOString(), serves };
  try {
    writeHolder(dir, holder);
  } catch (cause) {
    lock.close();
    throw unusable(dir, cause);
  }
  return {
    announce: (url, certificate) => writeHolder(dir, { ...holder, url, ...(certificate && { certificate }) }),
    release() {
      if (!claims.delete(lock)) return;
      rmSync(join(dir, HOLDER_FILE), { force: true });
      lock.close();
    },
  };
}

/** The process that says it holds the directory. Believe it only after `data_dir_locked`: a crash leaves the file. */
export function readHolder(dir: string): Holder | undefined {
  try {
    const said = JSON.parse(readFileSync(join(dir, HOLDER_FILE), 'utf8')) as Partial<Holder> | null;
    if (typeof said?.pid !== 'number' || typeof said.startedAt !== 'string') return undefined;
    const { pid, startedAt, serves, url, certificate } = said;
    const holder = { pid, startedAt, serves: serves === true };
    if (typeof url !== 'string') return holder;
    return typeof certificate === 'string' ? { ...holder, url, certificate } : { ...holder, url };
  } catch {
    return undefined;
  }
}

/** Keeps the locks from the garbage collector, which would close them: a claim ends when it is released, or never. */
const claims = new Set<Database.Database>();

const HOLDER_FILE = 'server.json';
const LOCK_FILE = 'lock.db';
const WRITABLE_BY_OTHERS = 0o022;

function prepareDirectory(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (!statSync(dir).isDirectory()) throw new Error('not a directory');
  } catch (cause) {
    throw unusable(dir, cause);
  }
  refuseNetwork(dir);
  // Whoever can write here can swap the database or the lock. What can only be read is guarded file by file.
  if ((statSync(dir).mode & WRITABLE_BY_OTHERS) !== 0) {
    const advice = `run "chmod go-w ${dir}" or choose a directory inside it`;
    throw new CoreError('config_invalid', `other users may write to the data directory: ${advice}`, { dir });
  }
}

/** A database of its own, so that nothing which reads or copies the real one ever touches the lock. */
function takeLock(dir: string): Database.Database {
  const file = join(dir, LOCK_FILE);
  let lock: Database.Database | undefined;
  try {
    if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
    lock = new Database(file, { timeout: 0 });
    // No journal on the disk: nothing is ever written, and nothing may be left behind.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (thrown) {
    lock?.close();
    const busy = thrown instanceof Database.SqliteError && thrown.code.startsWith('SQLITE_BUSY');
    throw busy ? locked(dir, thrown) : unusable(dir, thrown);
  }
}

function locked(dir: string, cause: unknown): CoreError {
  const holder = readHolder(dir);
  const who = holder ? `process ${holder.pid}` : 'another process';
  const message = `${who} is using the data directory ${dir}: stop it, or choose another directory`;
  return new CoreError('data_dir_locked', message, { dir, ...holder }, { cause });
}

function unusable(dir: string, cause: unknown): CoreError {
  return new CoreError(
    'config_invalid',
    `${dir} cannot be the data directory: check that it is yours and has space`,
    { dir },
    { cause },
  );
}

/** Replaced whole, so that a reader never sees half of it. */
function writeHolder(dir: string, holder: Holder): void {
  const file = join(dir, HOLDER_FILE);
  writeFileSync(`${file}.new`, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
