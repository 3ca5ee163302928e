/** What the list of Sessions shows and in which order: grouped by workspace, filtered, steady. Pure; it never asks anybody. */
import type { ListedSession } from '../../../src/client/connect.ts';

export interface Group {
  cwd: string;
  /** Its folder, with as much in front as tells it from the others. */
  name: string;
  sessions: readonly ListedSession[];
}

/** Groups stand where their first Session stood, and Sessions inside them as they came. */
export function grouped(sessions: readonly ListedSession[]): readonly Group[] {
  const byFolder = Map.groupBy(sessions, ({ cwd }) => cwd);
  const namesByFolder = folderNames([...byFolder.keys()]);
  return [...byFolder].map(([cwd, inside]) => ({ cwd, name: namesByFolder.get(cwd) ?? cwd, sessions: inside }));
}

/** The last part of each path; where two are alike, as many more as they need. */
export function folderNames(paths: readonly string[]): ReadonlyMap<string, string> {
  const result = new Map<string, string>();
  let unnamed = [...new Set(paths)];
  for (let parts = 1; unnamed.length > 0; parts++) {
    const byName = Map.groupBy(unnamed, (path) => lastParts(path, parts));
    unnamed = [];
    for (const [name, alike] of byName) {
      const isEnough = alike.length === 1 || alike.every((path) => lastParts(path, parts + 1) === name);
      if (isEnough) for (const path of alike) result.set(path, name);
      else unnamed.push(...alike);
    }
  }
  return result;
}

function lastParts(path: string, count: number): string {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.length === 0 ? path : parts.slice(-count).join('/');
}

/** Those whose title or folder has every word of the query. */
export function matching(sessions: readonly ListedSession[], query: string): readonly ListedSession[] {
  const words = plain(query).split(/\s+/).filter(Boolean);
  if (words.length === 0) return sessions;
  return sessions.filter(({ title, cwd }) => {
    const text = plain(`${title ?? 'Untitled'} ${cwd}`);
    return words.every((word) => text.includes(word));
  });
}

/** Without case and accents. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/**
 * Newest first, but what runs keeps the place it had when it began: it changes several times a second, and two that run
 * must not swap places under the pointer.
 */
export function steadyOrder(): (sessions: readonly ListedSession[]) => readonly ListedSession[] {
  let began = new Map<string, string>();
  return (sessions) => {
    const next = new Map<string, string>();
    const newness = new Map<string, string>();
    for (const { sessionId, updatedAt, _meta } of sessions) {
      const since = (_meta.pixir.state === 'running' && began.get(sessionId)) || (updatedAt ?? '');
      if (_meta.pixir.state === 'running') next.set(sessionId, since);
      newness.set(sessionId, since);
    }
    began = next;
    const of = ({ sessionId }: ListedSession) => newness.get(sessionId) ?? '';
    return sessions.toSorted((one, other) => of(other).localeCompare(of(one)));
  };
}

/** The one `step` places from the current one; without a current one, the first or the last. */
export function neighbour(
  shown: readonly ListedSession[],
  currentId: string | undefined,
  step: 1 | -1,
): ListedSession | undefined {
  const now = shown.findIndex(({ sessionId }) => sessionId === currentId);
  if (now < 0) return step > 0 ? shown[0] : shown.at(-1);
  return shown[now + step];
}
