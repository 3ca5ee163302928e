/** A clock that stands still until it is told to go on. */
import type { Clock } from '../../src/core/clock.ts';

export interface FakeClock extends Clock {
  /** Moves time on and calls, in order, what has become due. */
  advance(ms: number): void;
  /** Drops every timer: those of a process die with it. */
  forget(): void;
}

export function fakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  let timers: { at: number; fn: () => void }[] = [];
  function advance(ms: number): void {
    now += ms;
    const due = timers.filter((timer) => timer.at <= now).sort((a, b) => a.at - b.at);
    timers = timers.filter((timer) => timer.at > now);
    for (const { fn } of due) fn();
  }
  return {
    now: () => now,
    after(ms, fn) {
      const timer = { at: now + ms, fn };
      // What is due already needs nobody to move the clock.
      if (ms <= 0) queueMicrotask(() => advance(0));
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance,
    forget() {
      timers = [];
    },
  };
}
