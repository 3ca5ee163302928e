/**
 * Codes that are good once and for a moment: launch links and tickets. Only digests are kept, so that finding one takes
 * the same time whatever was guessed, and nothing here could be printed that opens a door.
 */
import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.ts';

export const ONE_TIME_MS = 60_000;
const CODE_BYTES = 32;

export interface OneTime<T> {
  /** A new code for this value; undefined when too many wait already. */
  issue(value: T): string | undefined;
  /** The value, once. */
  redeem(code: string): T | undefined;
}

export function createOneTime<T>(clock: Clock, max: number): OneTime<T> {
  const waiting = new Map<string, { value: T; until: number }>();
  const forgetOld = () => {
    for (const [digest, { until }] of waiting) if (until <= clock.now()) waiting.delete(digest);
  };
  return {
    issue(value) {
      forgetOld();
      if (waiting.size >= max) return undefined;
      const code = randomBytes(CODE_BYTES).toString('base64url');
      waiting.set(hash('sha256', code), { value, until: clock.now() + ONE_TIME_MS });
      return code;
    },
    redeem(code) {
      forgetOld();
      const digest = hash('sha256', code);
      const found = waiting.get(digest);
      waiting.delete(digest);
      return found?.value;
    },
  };
}
