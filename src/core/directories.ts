/**
 * What there is to choose a Workspace from. It names directories, and only those in which the principal could begin a
 * Session.
 */
import { assertMay, mayWorkIn, type Principal } from './principal.ts';
import { workspaceFor } from './reach.ts';
import type { Runtime } from './runtime.ts';

interface Directory {
  name: string;
  /** Its real path. */
  path: string;
}

/** Where Sessions may work: the directories of this machine, as far as the operator allows. */
export interface Workspaces {
  /** The real path of a directory in which a Session may work. @throws CoreError `invalid_params`. */
  resolveWorkspace(path: string): Promise<string>;
  /** Where to begin to look for one. */
  workspaceRoots: readonly string[];
  /**
   * What is above and in a directory that was resolved, as far as a Session may work there and `mayEnter` agrees.
   * Hidden directories are left out, and those that cannot be read.
   *
   * @throws CoreError `invalid_params`.
   */
  browse(
    path: string,
    mayEnter: (path: string) => boolean,
    signal: AbortSignal,
  ): Promise<{ parent: string | null; directories: Directory[] }>;
}

/**
 * The directories in one, or those to begin with.
 *
 * @throws CoreError `forbidden`, and `invalid_params` as when a Session is to begin there.
 */
export async function listDirectories(
  runtime: Runtime,
  principal: Principal,
  path: string | undefined,
  signal: AbortSignal,
): Promise<{ path: string | null; parent: string | null; directories: Directory[] }> {
  assertMay(principal, 'prompt');
  if (path === undefined) return { path: null, parent: null, directories: await beginnings(runtime, principal) };
  const real = await workspaceFor(runtime, principal, path);
  return { path: real, ...(await runtime.browse(real, (place) => mayWorkIn(principal, place), signal)) };
}

/** The operator's directories and the credential's own, as far as the other one allows them too. */
async function beginnings(runtime: Runtime, principal: Principal): Promise<Directory[]> {
  const candidates = [...runtime.workspaceRoots, ...(principal.workspaces ?? [])];
  const resolved = await Promise.allSettled(candidates.map((path) => workspaceFor(runtime, principal, path)));
  const paths = new Set(resolved.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
  return [...paths].map((path) => ({ name: path, path }));
}
