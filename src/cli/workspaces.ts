/** Where Sessions may work. A path is judged by what it really is, after every symbolic link. */
import { realpath, stat } from 'node:fs/promises';
import { CoreError } from '../core/errors.ts';
import { isWithin } from '../core/principal.ts';

/**
 * @param roots directories under which Sessions may work; null: any.
 * @returns resolves a directory to its real path. @throws CoreError `invalid_params`, without saying what lies outside.
 */
export function createWorkspaceResolver(roots: readonly string[] | null): (path: string) => Promise<string> {
  const refuse = (reason: string) => new CoreError('invalid_params', reason, { field: 'cwd' });
  return async (path) => {
    const real = await realDirectory(path);
    if (roots) {
      const allowed = (await Promise.all(roots.map(realDirectory))).filter((root) => root !== undefined);
      if (!allowed.some((root) => isWithin(root, real ?? path))) {
        throw refuse('cwd is outside the directories that this server allows');
      }
    }
    if (real === undefined) throw refuse('cwd is not a directory that exists');
    return real;
  };
}

async function realDirectory(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
