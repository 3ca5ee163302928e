/** The clock port, so that deadlines can be tested without waiting. */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `fn` once after `ms` milliseconds; the returned function calls it off. Never keeps a process alive. */
  after(ms: number, fn: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fn) {
    // Node clamps longer delays to 1 ms, which would turn a long deadline into an instant one.
    const timer = setTimeout(fn, Math.min(ms, 2 ** 31 - 1));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
