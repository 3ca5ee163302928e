/** Tells whether a client keeps up, and ends the connection of one that has taken nothing for too long. */
import type { Clock } from '../core/clock.ts';
import type { Transport } from './transport.ts';

/** Above this many unsent bytes a client is sent nothing more until its transport has drained; its Feeds wait in the Log. */
const HIGH_WATER = 1024 * 1024;
const STALLED_MS = 30_000;
const TOO_SLOW = 4408;

export interface Pace {
  /** The client is too far behind to be sent more. */
  congested(): boolean;
  end(): void;
}

/** @param resume is called when a client that was too far behind can take more. */
export function watchPace(clock: Clock, transport: Transport, resume: () => void): Pace {
  /** Ends the watch over a client that is sent nothing: there is one from the high-water mark down to the low one. */
  let endWatch: (() => void) | undefined;

  function watch(before: number): void {
    endWatch = clock.after(STALLED_MS, () => {
      const waiting = transport.bufferedAmount;
      // A client that took anything at all is slow, not dead; it comes back to its place either way.
      if (waiting >= before) transport.close(TOO_SLOW, 'too slow: come back with the cursor');
      else watch(waiting);
    });
  }

  transport.onDrain(() => {
    if (!endWatch) return;
    endWatch();
    endWatch = undefined;
    resume();
  });

  return {
    congested() {
      if (!endWatch && transport.bufferedAmount > HIGH_WATER) watch(transport.bufferedAmount);
      return endWatch !== undefined;
    },
    end: () => endWatch?.(),
  };
}
