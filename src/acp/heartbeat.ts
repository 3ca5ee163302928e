/** A regular sign of life on one connection. */
import type { Clock } from '../core/clock.ts';

const EVERY_MS = 15_000;

/** Calls `send` every 15 s, up to a tenth sooner or later so that many clients do not beat as one. @returns what ends it. */
export function beat(clock: Clock, send: () => Promise<void>): () => void {
  let cancel = () => {};
  const again = () => {
    cancel = clock.after(EVERY_MS * (0.9 + Math.random() * 0.2), () => {
      void send();
      again();
    });
  };
  again();
  return () => cancel();
}
