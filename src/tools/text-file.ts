/**
 * Reading and replacing whole text files: the client's, where it offers that, or those on disk. A file is replaced by
 * renaming a complete new one over it, so nobody ever sees half of it; nothing that is not text is ever taken for text.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rm, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CoreError } from '../core/errors.ts';
import type { FileDiff } from '../core/event.ts';
import { type Roots, rootsOf } from '../core/roots.ts';
import type { ToolContext } from '../core/tool.ts';
import { oneLine } from './presentation.ts';
import {
  checkAborted,
  errno,
  failure,
  notAFile,
  type OpenDirectory,
  openDirectory,
  openInside,
  resolveInside,
  type WriteTarget,
} from './workspace.ts';

const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** A diff with a longer text than this is left out of the result. */
const MAX_DIFF_BYTES = 256 * 1024;
const BINARY_PROBE_BYTES = 8192;

/** Keeps a byte order mark, so that what is read can be written back byte for byte. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export interface TextFile {
  /** The real absolute path. */
  path: string;
  text: string;
}

/** What of a call these functions need. */
export type FileContext = Pick<ToolContext, keyof Roots | 'signal' | 'client'>;

/**
 * The text as the client has it, where it offers its files; otherwise, and where it fails, as it is on disk.
 *
 * @throws CoreError `outside_workspace`, `not_found`, `not_a_file`, `too_large`, `binary_file`, `read_failed` or `cancelled`.
 */
export async function readText(context: FileContext, path: string): Promise<TextFile> {
  if (!context.client?.readTextFile) return readOwn(context, path);
  const real = await resolveInside(context, path);
  const text = await textOfClient(context, real);
  return text === undefined ? readOwn(context, path) : { path: real, text };
}

/** What a client decoded wrongly would be written back so: then the bytes on disk count. */
async function textOfClient({ client, signal }: FileContext, real: string): Promise<string | undefined> {
  const stats = await lstat(real).catch(() => undefined);
  if (stats && !stats.isFile()) return undefined;
  const text = await client?.readTextFile?.(real, signal).catch(() => undefined);
  checkAborted(signal);
  if (text === undefined || /[\0\uFFFD]/.test(text) || Buffer.byteLength(text) > MAX_FILE_BYTES) return undefined;
  return text;
}

async function readOwn(roots: Roots, path: string): Promise<TextFile> {
  const { handle, path: real, stats } = await openInside(roots, path);
  try {
    if (!stats.isFile()) throw notAFile(path);
    if (stats.size > MAX_FILE_BYTES) {
      const message = `${oneLine(path)} is larger than 10 MiB; search it with grep or take a part with bash`;
      throw new CoreError('too_large', message, { path, bytes: stats.size, limit: MAX_FILE_BYTES });
    }
    const bytes = await handle.readFile().catch((cause) => {
      throw failure('read_failed', 'cannot read', path, cause);
    });
    const text = decode(bytes);
    if (text === undefined) throw new CoreError('binary_file', `${oneLine(path)} is not UTF-8 text`, { path });
    return { path: real, text };
  } finally {
    await handle.close();
  }
}

/** Undefined where it is no text. */
export function decode(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text before a change, for its diff: null for a new file, undefined where it cannot be shown as text. */
export async function textBefore(context: FileContext, target: WriteTarget): Promise<string | null | undefined> {
  if (!target.existing) return null;
  if (target.existing.size > MAX_DIFF_BYTES) return undefined;
  return readText(context, target.path).then(
    (file) => file.text,
    () => undefined,
  );
}

export function diffOf(path: string, oldText: string | null | undefined, newText: string): FileDiff[] {
  if (oldText === undefined) return [];
  if ([oldText ?? '', newText].some((text) => Buffer.byteLength(text) > MAX_DIFF_BYTES)) return [];
  return [{ path, oldText, newText }];
}

/** A change that is complete on disk except for the one step that makes it visible. Disposing it takes back the rest. */
export interface StagedChange extends AsyncDisposable {
  /** @param begun it is a part of what is visible already: an abort does not stop it any more. @throws CoreError. */
  commit(begun?: boolean): Promise<void>;
}

/**
 * Writes the text beside its target. Where the client offers to write, the last step is the client's, and ours if it
 * fails. `mode` is for a file that takes the place of another one; no client can be told it.
 */
export async function stageText(
  context: FileContext,
  target: WriteTarget,
  text: string,
  mode = target.existing?.mode,
): Promise<StagedChange> {
  const directory = await parentOf(context, target);
  const temporary = join(directory.at, `.pixir-${randomBytes(8).toString('hex')}.tmp`);
  const staged: StagedChange = {
    async commit(begun) {
      if (mode === target.existing?.mode && (await isWrittenByClient(context, target.path, text))) return;
      if (!begun) checkAborted(context.signal);
      await told(target, rename(temporary, join(directory.at, basename(target.path))));
    },
    [Symbol.asyncDispose]: async () => {
      await rm(temporary, { force: true });
      await directory[Symbol.asyncDispose]();
    },
  };
  try {
    await told(target, writeNew(temporary, text, mode));
    return staged;
  } catch (error) {
    await staged[Symbol.asyncDispose]();
    throw error;
  }
}

async function isWrittenByClient({ client, signal }: FileContext, path: string, text: string): Promise<boolean> {
  if (!client?.writeTextFile) return false;
  return client.writeTextFile(path, text, signal).then(
    () => true,
    () => false,
  );
}

export async function stageRemoval(roots: Roots, target: WriteTarget): Promise<StagedChange> {
  const directory = await parentOf(roots, target);
  return {
    commit: () => told(target, unlink(join(directory.at, basename(target.path)))),
    [Symbol.asyncDispose]: async () => directory[Symbol.asyncDispose](),
  };
}

export async function replaceText(context: FileContext, target: WriteTarget, text: string): Promise<void> {
  await using staged = await stageText(context, target, text);
  await staged.commit();
}

async function writeNew(path: string, text: string, mode: number | undefined): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  await using handle = await open(path, flags, 0o666);
  await handle.writeFile(text);
  if (mode !== undefined) await handle.chmod(mode & 0o777);
}

/** Opens the directory of the target, made first where it is missing. From then on it is used by its handle. */
async function parentOf(roots: Roots, target: WriteTarget, path = dirname(target.path)): Promise<OpenDirectory> {
  const found = await openDirectory(roots, path).catch((error) => {
    if (!rootsOf(roots).includes(path) && error instanceof CoreError && error.code === 'not_found') return undefined;
    throw error;
  });
  if (found) return asNamed(target, path, found);
  // Made below the handle of the one above: `mkdir -p` would follow whatever was swapped in meanwhile.
  await using above = await parentOf(roots, target, dirname(path));
  const made = mkdir(join(above.at, basename(path))).catch((cause) => {
    if (errno(cause) !== 'EEXIST') throw cause;
  });
  await told(target, made);
  return await asNamed(target, path, await openDirectory(roots, path));
}

async function asNamed(target: WriteTarget, path: string, directory: OpenDirectory): Promise<OpenDirectory> {
  if (directory.path === path) return directory;
  await directory[Symbol.asyncDispose]();
  throw new CoreError('outside_workspace', `${oneLine(target.name)} was moved while it was written`);
}

/** Tells the failure of a step in the words of the model: the path as it was spelled, and why. */
async function told(target: WriteTarget, step: Promise<unknown>): Promise<void> {
  await step.catch((cause) => {
    throw failure('write_failed', 'cannot write', target.name, cause);
  });
}
