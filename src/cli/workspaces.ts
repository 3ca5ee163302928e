/** Where Sessions may work. A path is judged by what it really is, after every symbolic link. */
import type { Dirent } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import type { Workspaces } from '../core/directories.ts';
import { CoreError } from '../core/errors.ts';
import { isWithin } from '../core/principal.ts';
import { openDirectory } from '../tools/workspace.ts';

/** More than anybody looks through. */
const MAX_DIRECTORIES = 1_000;

/**
 * @param roots directories under which Sessions may work; null: any.
 * @param home where a person begins to look where any is allowed.
 * @returns what refuses with CoreError `invalid_params`, without saying what lies outside.
 */
export function createWorkspaces(roots: readonly string[] | null, home: string): Workspaces {
  /** Tells of a real path whether it is allowed. */
  async function guard(): Promise<(path: string) => boolean> {
    if (!roots) return () => true;
    const allowed = (await Promise.all(roots.map(realDirectory))).filter((root) => root !== undefined);
    return (path) => allowed.some((root) => isWithin(root, path));
  }

  return {
    workspaceRoots: roots ?? [home, parse(home).root],
    async resolveWorkspace(path) {
      const real = await realDirectory(path);
      const isAllowed = await guard();
      if (!isAllowed(real ?? path)) throw refusal('cwd is outside the directories that this server allows');
      if (real === undefined) throw refusal('cwd is not a directory that exists');
      return real;
    },
    async browse(path, mayEnter, signal) {
      const isAllowed = await guard();
      const may = (place: string) => mayEnter(place) && isAllowed(place);
      const directories = [];
      for (const entry of await entries(path, signal)) {
        if (directories.length === MAX_DIRECTORIES) break;
        signal.throwIfAborted();
        const place = join(path, entry.name);
        const real = entry.isSymbolicLink() ? await realDirectory(place) : place;
        if (real && may(real) && (await isReadable(real))) directories.push({ name: entry.name, path: real });
      }
      const above = dirname(path);
      return { parent: above !== path && may(above) ? above : null, directories };
    },
  };
}

/** What may be a directory, by name. Where the path means something else by now, nothing is read. */
async function entries(path: string, signal: AbortSignal): Promise<Dirent[]> {
  const found: Dirent[] = [];
  try {
    await using directory = await openDirectory({ workspace: path, additionalDirectories: [] }, '.');
    for await (const entry of await opendir(directory.at)) {
      signal.throwIfAborted();
      const isCandidate = entry.isDirectory() || entry.isSymbolicLink();
      if (isCandidate && !entry.name.startsWith('.')) found.push(entry);
    }
  } catch (cause) {
    signal.throwIfAborted();
    throw refusal('cwd cannot be read', { cause });
  }
  return found.sort((one, other) => (one.name < other.name ? -1 : 1));
}

async function isReadable(path: string): Promise<boolean> {
  try {
    const directory = await opendir(path);
    await directory.close();
    return true;
  } catch {
    return false;
  }
}

function refusal(reason: string, options?: ErrorOptions): CoreError {
  return new CoreError('invalid_params', reason, { field: 'cwd' }, options);
}

async function realDirectory(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
