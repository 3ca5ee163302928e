/**
 * The roots of a Session: the directories in which its tools may work. Paths here are absolute and real; nothing here
 * looks at the disk.
 */
import { isWithin } from './principal.ts';

export interface Roots {
  /** Where relative paths begin, and commands. */
  readonly workspace: string;
  /** What a client has added, as the protocol calls it. */
  readonly additionalDirectories: readonly string[];
}

/** All of them, the Workspace first. */
export function rootsOf({ workspace, additionalDirectories }: Roots): [string, ...string[]] {
  return [workspace, ...additionalDirectories];
}

/** Each directory once: none that lies in the Workspace, nor in another one of the list. */
export function distinctRoots(workspace: string, directories: readonly string[]): string[] {
  const all = [...new Set(directories)].filter((path) => !isWithin(workspace, path));
  return all.filter((path) => !all.some((other) => other !== path && isWithin(other, path)));
}
