/** How a path that somebody types leads through folders: which one to look into, and what is searched for there. Pure. */
import type { Directories, ListedSession } from '../../../src/client/connect.ts';

type Directory = Directories['directories'][number];

export interface Place {
  /** The folder to look into; undefined: the ones to begin with. */
  inside: string | undefined;
  /** What the names in it must have. */
  filter: string;
}

/** @param known folders: a path that is one is looked into, although it has no slash at its end. */
export function placeOf(text: string, known: ReadonlySet<string>): Place {
  const path = text.trim();
  if (known.has(path)) return { inside: path, filter: '' };
  const end = path.lastIndexOf('/');
  if (end < 0) return { inside: undefined, filter: path };
  return { inside: end === 0 ? '/' : path.slice(0, end).replace(/\/+$/, '') || '/', filter: path.slice(end + 1) };
}

/** Those that begin with it first, then those that have it somewhere. */
export function filtered(directories: readonly Directory[], filter: string): readonly Directory[] {
  const wanted = filter.toLowerCase();
  const begins = ({ name }: Directory) => name.toLowerCase().startsWith(wanted);
  const has = directories.filter(({ name }) => name.toLowerCase().includes(wanted));
  return [...has.filter(begins), ...has.filter((directory) => !begins(directory))];
}

/** The folders of the newest Sessions. */
export function recentFolders(sessions: readonly ListedSession[], most: number): readonly string[] {
  return [...new Set(sessions.map(({ cwd }) => cwd))].slice(0, most);
}

/** As the server wants it: without a slash at its end. */
export function folderOf(text: string): string {
  const path = text.trim();
  return path.replace(/\/+$/, '') || (path === '' ? '' : '/');
}
