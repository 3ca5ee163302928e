/**
 * What git runs or obeys, kept from confined commands: `.git` itself, its hooks and its configuration, also before they
 * exist. A command may commit; it must never be able to leave behind what runs when a person next uses git.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CoreError } from '../core/errors.ts';
import type { Mounts } from './sandbox-view.ts';
import { isInside } from './workspace.ts';

const touch = (path: string) => writeFileSync(path, '', { flag: 'wx' });

/** What is made where it is missing: a mount needs something to stand on. */
const GUARDED = { hooks: mkdirSync, config: touch, 'config.worktree': touch };

/** Adds the mounts for one command; call what it returns when the command has ended. */
export type GitGuard = (workspace: string, mounts: Mounts) => () => void;

export function createGitGuard(): GitGuard {
  /** How many commands run in each workspace that is no repository. */
  const running = new Map<string, number>();
  return (workspace, mounts) => {
    const git = join(workspace, '.git');
    const kind = kindOf(git);
    if (kind === 'file') guardWorktree(git, mounts);
    if (kind === 'repository') guardRepository(git, mounts);
    if (kind !== 'nothing') return () => {};
    attempt(() => mkdirSync(git));
    if (!exists(git)) return () => {};
    running.set(git, (running.get(git) ?? 0) + 1);
    mounts.set(git, ['--tmpfs', git, '--remount-ro', git]);
    return () => {
      const left = (running.get(git) ?? 1) - 1;
      running.set(git, left);
      if (left > 0) return;
      running.delete(git);
      attempt(() => rmdirSync(git));
    };
  };
}

/** A linked worktree works on a repository elsewhere, which it is shown. */
function guardWorktree(git: string, mounts: Mounts): void {
  mounts.set(git, ['--ro-bind', git, git]);
  const repository = repositoryOf(git);
  if (repository) guardRepository(repository, mounts);
}

/** Only a repository that itself names this worktree: the file alone could name any directory of this machine. */
function repositoryOf(git: string): string | undefined {
  try {
    const read = (path: string) => readFileSync(path, 'utf8').trim();
    const own = realpathSync(resolve(dirname(git), read(git).replace(/^gitdir: /, '')));
    const repository = realpathSync(resolve(own, read(join(own, 'commondir'))));
    const named = realpathSync(resolve(own, read(join(own, 'gitdir')))) === git;
    const linked = own === join(repository, 'worktrees', basename(own)) && !isInside(repository, git);
    return named && linked ? repository : undefined;
  } catch {
    return undefined;
  }
}

/** A mount point cannot be renamed or removed, so nobody puts another `.git`, or another configuration, in its place. */
function guardRepository(git: string, mounts: Mounts): void {
  mounts.set(git, ['--bind', git, git]);
  for (const [name, make] of Object.entries(GUARDED)) {
    const path = join(git, name);
    attempt(() => make(path));
    if (!exists(path)) continue;
    refuseLink(path);
    mounts.set(path, ['--ro-bind', path, path]);
  }
}

/** An empty directory is none: git takes it for none, and it may be another command's. */
function kindOf(git: string): 'nothing' | 'file' | 'repository' {
  if (!exists(git)) return 'nothing';
  refuseLink(git);
  if (!lstatSync(git).isDirectory()) return 'file';
  return readdirSync(git).length === 0 ? 'nothing' : 'repository';
}

/** Whoever can write the directory that holds a link can put another one in its place: a mount would guard nothing. */
function refuseLink(path: string): void {
  if (!lstatSync(path).isSymbolicLink()) return;
  throw new CoreError('command_failed', 'the sandbox cannot protect a .git that is, or holds, a symbolic link');
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** What fails here (it exists already, or nobody may write there) fails in the command too. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // See above.
  }
}
