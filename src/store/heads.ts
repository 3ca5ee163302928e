/**
 * The heads of the Sessions that are being written to, so that an append need not read first. Forgetting one costs a
 * read; keeping one that the database does not have would break a chain.
 */
import type { Head } from '../core/log.ts';

export interface Heads {
  /** Undefined when there is no such Session. */
  get(sessionId: string): Head | undefined;
  set(sessionId: string, head: Head): void;
  delete(sessionId: string): void;
  clear(): void;
}

/** @param load reads the head of a Session that is not kept. At most `limit` are, those used last. */
export function keepHeads(limit: number, load: (sessionId: string) => Head | undefined): Heads {
  const kept = new Map<string, Head>();

  function set(sessionId: string, head: Head): void {
    kept.delete(sessionId);
    kept.set(sessionId, head);
    const [longestUnused] = kept.keys();
    if (kept.size > limit && longestUnused !== undefined) kept.delete(longestUnused);
  }

  return {
    set,
    get: (sessionId) => kept.get(sessionId) ?? load(sessionId),
    delete: (sessionId) => kept.delete(sessionId),
    clear: () => kept.clear(),
  };
}
