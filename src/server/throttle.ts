/**
 * Reads a connection no faster than its client may send. What a client has sent is neither dropped nor refused, only
 * read later; one that never lets up is given up.
 */
import type { Clock } from '../core/clock.ts';

/** A client that is read more slowly for so long without a break is no honest one that was in a hurry. */
const RELENTLESS_MS = 30_000;
/** What counts as a break: it was read freely for so long. */
const BREAK_MS = 1_000;

export interface ThrottleOptions {
  /** The connection: what it has received in one piece comes out even while it is paused. */
  source: { pause(): void; resume(): void };
  /** So many messages in a second, and that many at once. */
  perSecond: number;
  clock: Clock;
  onRelentless(): void;
}

export interface Throttle {
  /** To be called with each message. */
  count(): void;
  end(): void;
}

export function throttle({ source, perSecond, clock, onRelentless }: ThrottleOptions): Throttle {
  let tokens = perSecond;
  let filledAt = clock.now();
  let paused = false;
  let cancelNext = () => {};
  let cancelEnd: (() => void) | undefined;

  function fill(): void {
    const now = clock.now();
    tokens = Math.min(perSecond, tokens + (Math.max(0, now - filledAt) * perSecond) / 1_000);
    filledAt = now;
  }

  function pause(): void {
    paused = true;
    source.pause();
    cancelEnd ??= clock.after(RELENTLESS_MS, giveUp);
    cancelNext();
    readOn();
  }

  /** Not before half a second's worth is there: else whoever is just within the rate would look like one beyond it. */
  function readOn(): void {
    fill();
    const missing = perSecond / 2 - tokens;
    if (missing > 0) {
      cancelNext = clock.after(Math.ceil((missing * 1_000) / perSecond), readOn);
      return;
    }
    paused = false;
    source.resume();
    cancelNext = clock.after(BREAK_MS, forgive);
  }

  function giveUp(): void {
    cancelNext();
    onRelentless();
  }

  function forgive(): void {
    cancelEnd?.();
    cancelEnd = undefined;
  }

  return {
    count() {
      fill();
      tokens -= 1;
      if (tokens < 0 && !paused) pause();
    },
    end() {
      cancelNext();
      forgive();
    },
  };
}
