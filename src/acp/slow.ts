/** Tells whether a client keeps up, and ends the connection of one that has taken nothing for too long. */
import type { Clock } from '../core/clock.ts';
import type { Transport } from './transport.ts';

/** Above this many unsent bytes a client is sent nothing more; its Feeds wait in the Log. */
const HIGH_WATER = 1024 * 1024;
const STALLED_MS = 30_000;
const TOO_SLOW = 4408;

export interface Pace {
  /** The client is too far behind to be sent more. */
  congested(): boolean;
  end(): void;
}

export function watchPace(clock: Clock, transport: Transport): Pace {
  let cancel: (() => void) | undefined;

  function check(before: number): void {
    const waiting = transport.bufferedAmount;
    cancel = undefined;
    if (waiting === 0) return;
    // A client that took anything at all is slow, not dead; it comes back to its place either way.
    if (waiting >= before) transport.close(TOO_SLOW, 'too slow: come back with the cursor');
    else watch(waiting);
  }

  function watch(waiting: number): void {
    cancel = clock.after(STALLED_MS, () => check(waiting));
  }

  return {
    congested() {
      const waiting = transport.bufferedAmount;
      if (waiting <= HIGH_WATER) return false;
      if (!cancel) watch(waiting);
      return true;
    },
    end: () => cancel?.(),
  };
}
