/** Lists the files of a workspace for somebody who looks for one: those that git would track, and no credentials. */
import { globOptions, ripgrep } from './ripgrep.ts';
import { openDirectory } from './workspace.ts';

const MAX_FILES = 50_000;
const MAX_LENGTH = 8 * 1024 * 1024;
/** A person waits for it: what was found by then has to do. */
const ENOUGH_AFTER_MS = 2_000;

/** @param hidden absolute real paths that are never listed. */
export function createFileLister(hidden: readonly string[]) {
  return async (workspace: string, signal: AbortSignal): Promise<string[]> => {
    await using directory = await openDirectory({ workspace, additionalDirectories: [] }, '.');
    // A name may hold a line break, and what follows it must not pass for a path.
    const args = ['--files', '--null', ...globOptions(undefined, directory.path, hidden), './'];
    const bounds = { signal, lineEnd: '\0' as const, maxLength: MAX_LENGTH, enoughAfterMs: ENOUGH_AFTER_MS };
    const files = await ripgrep(args, directory.at, MAX_FILES, bounds);
    return files.slice(0, MAX_FILES);
  };
}
