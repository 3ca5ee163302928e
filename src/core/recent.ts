/**
 * The newest entries of one Session, kept in memory so that live readers do not go to the disk. It must never hold more
 * than its bounds, however large the Events are.
 */
import type { Entry } from './log.ts';

export interface Recent {
  /** The entry after the one pushed before. */
  push(entry: Entry): void;
  /** Up to `limit` entries after `after`; undefined when the first of them is not here any more. */
  read(after: number, limit: number): Entry[] | undefined;
}

const MAX_ENTRIES = 256;
const MAX_SIZE = 2 ** 20;

export function recentEntries(): Recent {
  const entries: Entry[] = [];
  let size = 0;
  return {
    push(entry) {
      entries.push(entry);
      size += entry.size;
      while (entries.length > MAX_ENTRIES || size > MAX_SIZE) size -= entries.shift()?.size ?? size;
    },
    read(after, limit) {
      const from = after + 1 - (entries[0]?.event.seq ?? Number.POSITIVE_INFINITY);
      return from < 0 ? undefined : entries.slice(from, from + limit);
    },
  };
}
