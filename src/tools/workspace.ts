/**
 * Confinement: the one place where tools turn a path into an open file. Nothing outside the real roots of the Session is
 * ever opened, whatever the path spells, wherever a symlink points, and also when an entry is swapped after the check.
 */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { CoreError, type ErrorCode } from '../core/errors.ts';
import type { Location } from '../core/event.ts';
import { type Roots, rootsOf } from '../core/roots.ts';
import { oneLine } from './presentation.ts';

const MAX_LINKS = 20;
/** No system opens a longer one. */
const MAX_PATH_BYTES = 4096;

/** Git runs what its files name: whoever can write one can run commands. Protected before they exist, too. */
const GIT = ['.git'];

/** Where programs keep credentials, for a Workspace that is somebody's home: neither read nor written. */
export const CREDENTIALS = [
  ...['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.netrc', '.git-credentials'],
  ...['.docker/config.json', '.config/gcloud', '.config/gh'],
];

/** What a data directory of Pixir holds; where it is the Workspace itself, only this is none of a tool's business. */
export const SERVER_FILES = [
  'pixir.db',
  'pixir.db-wal',
  'pixir.db-shm',
  'lock.db',
  'server.json',
  'config.json',
  'provider-key',
  'token',
  'tokens',
];

export interface OpenEntry {
  handle: FileHandle;
  /** The real absolute path. */
  path: string;
  stats: Stats;
}

export interface OpenDirectory extends AsyncDisposable {
  /** The real absolute path, for messages. */
  path: string;
  /** The same directory by its open handle, where the system can: names below it cannot be redirected any more. */
  at: string;
}

/** Where a file will be written: its real path, and what stands there now. */
export interface WriteTarget {
  path: string;
  /** The path as the model spelled it. */
  name: string;
  existing: Stats | undefined;
}

export function isInside(workspace: string, path: string): boolean {
  return path === workspace || path.startsWith(workspace.endsWith(sep) ? workspace : workspace + sep);
}

/** The root that holds an absolute path: the Workspace, where several do. */
function rootOf(roots: Roots, path: string): string | undefined {
  return rootsOf(roots).find((root) => isInside(root, path));
}

/** The place of a path the model gave, where it lies inside a root by its spelling alone. */
export function locate(roots: Roots, path: string, line?: number): Location[] {
  const absolute = resolve(roots.workspace, path);
  if (rootOf(roots, absolute) === undefined) return [];
  return [line === undefined ? { path: absolute } : { path: absolute, line }];
}

/** How a real path is shown to the model: as it would spell it. */
export function shown({ workspace }: Roots, path: string): string {
  return isInside(workspace, path) ? relative(workspace, path) || '.' : path;
}

/** The real path that a path names, symlinks followed, existing or not. @throws CoreError `outside_workspace`. */
export async function resolveInside(roots: Roots, path: string): Promise<string> {
  if (path.includes('\0')) throw new CoreError('invalid_args', 'the path holds a NUL byte');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw tooLong();
  const real = await resolveReal(resolve(roots.workspace, path)).catch((cause) => {
    if (errno(cause) === 'ENAMETOOLONG') throw tooLong();
    throw outside(path);
  });
  const root = rootOf(roots, real);
  if (root === undefined) throw outside(path);
  if (names(CREDENTIALS, roots, path, real)) throw isProtected(path);
  if (await isServerData(root, real)) throw isProtected(path);
  return real;
}

/** Whether it is of a data directory of Pixir, whose token opens the server: recognised by its database, wherever it lies. */
async function isServerData(root: string, real: string): Promise<boolean> {
  for (let directory = real; isInside(root, directory); directory = dirname(directory)) {
    const found = await stat(join(directory, 'pixir.db')).catch(() => undefined);
    if (found && directory !== root) return true;
    if (found) return SERVER_FILES.includes(relative(root, real).split(sep, 1)[0] ?? '');
    if (directory === dirname(directory)) break;
  }
  return false;
}

/**
 * Whether the path, as spelled or as it really is, goes through one of these. Some file systems ignore case, the form
 * of a character, and characters that nobody sees.
 */
function names(entries: readonly string[], roots: Roots, path: string, real: string): boolean {
  return [real, resolve(roots.workspace, path)].some((absolute) => {
    const plain = relative(rootOf(roots, absolute) ?? roots.workspace, absolute)
      .normalize('NFKC')
      .replace(/\p{Default_Ignorable_Code_Point}/gu, '');
    const segments = `/${plain.toLowerCase()}/`;
    return entries.some((entry) => segments.includes(`/${entry}/`));
  });
}

/** The real path of the deepest existing ancestor, and the rest as spelled. */
async function resolveReal(absolute: string): Promise<string> {
  const missing: string[] = [];
  let existing = absolute;
  for (let links = 0; ; ) {
    try {
      return join(await realpath(existing), ...missing);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    // A symlink to nothing is not nothing: a file written through it appears where it points.
    const target = await readlink(existing).catch(() => undefined);
    if (target === undefined) {
      missing.unshift(basename(existing));
      existing = dirname(existing);
    } else {
      if (++links > MAX_LINKS) throw new Error('too many symbolic links');
      existing = resolve(await realpath(dirname(existing)), target);
    }
  }
}

/**
 * Opens a file or directory for reading. The caller closes the handle.
 * @throws CoreError `outside_workspace`, `not_found` or `read_failed`.
 */
export async function openInside(roots: Roots, path: string, flags = 0): Promise<OpenEntry> {
  const real = await resolveInside(roots, path);
  // The real path holds no symlink, so O_NOFOLLOW only meets a swap; O_NONBLOCK keeps a FIFO from waiting for a writer.
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | flags).catch(
    (cause) => {
      throw openFailure(cause, path);
    },
  );
  try {
    const stats = await handle.stat();
    // Not merely inside some root: a swap must not lead from one into another either.
    if (rootOf(roots, await placeOf(handle, real, stats)) !== rootOf(roots, real)) throw outside(path);
    return { handle, path: real, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens a directory, as a place to list, search or write in. */
export async function openDirectory(roots: Roots, path: string): Promise<OpenDirectory> {
  const { handle, path: real } = await openInside(roots, path, constants.O_DIRECTORY);
  const byHandle = `/proc/self/fd/${handle.fd}`;
  const at = (await stat(byHandle).catch(() => undefined)) ? byHandle : real;
  return { path: real, at, [Symbol.asyncDispose]: () => handle.close() };
}

/** Where the open file really is: by its handle on Linux, elsewhere by looking again whether the name still means it. */
async function placeOf(handle: FileHandle, real: string, stats: Stats): Promise<string> {
  const place = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
  if (place !== undefined) return place;
  const named = await lstat(real);
  return named.ino === stats.ino && named.dev === stats.dev ? realpath(real) : '';
}

/** Checks a path that a tool wants to write, and changes nothing. @throws CoreError. */
export async function resolveWritable(roots: Roots, path: string): Promise<WriteTarget> {
  const real = await resolveInside(roots, path);
  if (names(GIT, roots, path, real)) throw isProtected(path);
  const existing = await lstat(real).catch((cause) => {
    if (errno(cause) === 'ENOENT') return undefined;
    throw failure('write_failed', 'cannot write', path, cause);
  });
  if (existing && !existing.isFile()) throw notAFile(path);
  return { path: real, name: path, existing };
}

/** Whether the last name of the path is itself a symlink. */
export async function isSymlink({ workspace }: Roots, path: string): Promise<boolean> {
  const stats = await lstat(resolve(workspace, path)).catch(() => undefined);
  return stats?.isSymbolicLink() ?? false;
}

export function notAFile(path: string): CoreError {
  return new CoreError('not_a_file', `${oneLine(path)} is not a regular file`, { path });
}

export function failure(code: ErrorCode, what: string, path: string, cause: unknown): CoreError {
  return new CoreError(code, `${what} ${oneLine(path)}: ${errno(cause) ?? 'unknown error'}`, { path }, { cause });
}

/** What every tool does first, and again before it makes a change. */
export function checkAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new CoreError('cancelled', 'the call was cancelled');
}

function openFailure(cause: unknown, path: string): CoreError {
  if (errno(cause) === 'ENOENT') return new CoreError('not_found', `${oneLine(path)} does not exist`, { path });
  if (errno(cause) === 'ENOTDIR') return new CoreError('not_found', `${oneLine(path)} is not a directory`, { path });
  if (errno(cause) === 'ENXIO') return notAFile(path);
  if (errno(cause) === 'ELOOP') return outside(path);
  return failure('read_failed', 'cannot read', path, cause);
}

function tooLong(): CoreError {
  return new CoreError('invalid_args', 'the path is too long');
}

function isProtected(path: string): CoreError {
  return new CoreError('protected_path', `${oneLine(path)} is protected`, { path });
}

function outside(path: string): CoreError {
  return new CoreError('outside_workspace', `${oneLine(path)} is outside the workspace`, { path });
}

function isMissing(error: unknown): boolean {
  return errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR';
}

export function errno(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
