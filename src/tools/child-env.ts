/**
 * The environment of what tools start: a short list of harmless variables, and nothing else. It never holds a
 * credential or a setting of this server.
 */
import { realpathSync } from 'node:fs';
import { isWithin } from '../core/principal.ts';
import { type Roots, rootsOf } from '../core/roots.ts';

/** Variables by name, as a process has them. */
export type Variables = Readonly<{ PATH?: string | undefined; [name: string]: string | undefined }>;

const PASSED = ['HOME', 'LANG', 'LOGNAME', 'SHELL', 'TMPDIR', 'TZ', 'USER'];

/** Nobody is there to page, to answer or to look at colours; git neither asks nor leaves a process behind. */
const FIXED = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_CONFIG_COUNT: '5',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'gc.autoDetach',
  GIT_CONFIG_VALUE_1: 'false',
  GIT_CONFIG_KEY_2: 'maintenance.autoDetach',
  GIT_CONFIG_VALUE_2: 'false',
  // A directory that only looks like a repository, or a signature, would let git start what the workspace names.
  GIT_CONFIG_KEY_3: 'safe.bareRepository',
  GIT_CONFIG_VALUE_3: 'explicit',
  GIT_CONFIG_KEY_4: 'log.showSignature',
  GIT_CONFIG_VALUE_4: 'false',
};

/** Where commands that work in these roots are looked up: nothing in one may say what `ls` means, by whatever name. */
export function pathOutside(roots: Roots, path = ''): string {
  const holds = (entry: string) => rootsOf(roots).some((root) => isWithin(root, entry));
  return path
    .split(':')
    .filter((entry) => !holds(entry) && !holds(realPath(entry)))
    .join(':');
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Nothing is found there.
    return path;
  }
}

export function childEnv(own: Variables): Record<string, string> {
  const passed = Object.entries(own).filter(([name]) => PASSED.includes(name) || name.startsWith('LC_'));
  // A relative entry would let the workspace decide what `ls` means.
  const path = (own.PATH ?? '').split(':').filter((entry) => entry.startsWith('/'));
  const named = Object.fromEntries(passed.filter((entry): entry is [string, string] => entry[1] !== undefined));
  return { ...named, ...FIXED, PATH: path.join(':') || '/usr/local/bin:/usr/bin:/bin' };
}
