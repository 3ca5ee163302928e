/**
 * Counts wrong credentials by address. It only tells apart "wrong" and "wrong too often": a right one is never refused,
 * so nobody can lock the owner out.
 */
import type { Clock } from '../core/clock.ts';

const WINDOW_MS = 60_000;
/** A stranger with many addresses costs this much memory and no more. */
const MAX_ADDRESSES = 10_000;

export interface Failures {
  /** One more; true when there have been too many from there within the minute. */
  count(address: string): boolean;
}

export function createFailures(clock: Clock, max: number): Failures {
  const seen = new Map<string, { since: number; count: number }>();
  return {
    count(address) {
      const now = clock.now();
      const known = seen.get(address);
      const entry = known && now - known.since < WINDOW_MS ? known : { since: now, count: 0 };
      entry.count++;
      seen.delete(address);
      seen.set(address, entry);
      const [oldest] = seen.keys();
      if (seen.size > MAX_ADDRESSES && oldest !== undefined) seen.delete(oldest);
      return entry.count > max;
    },
  };
}
