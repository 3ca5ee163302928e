/** Ends a connection whose credential no longer holds. It never judges a credential itself: `holds` does. */
import type { Clock } from '../core/clock.ts';
import type { Credential } from './carriers.ts';

/** With the goodbye, less than the 5 s after which a credential that was revoked is of no use. */
const CHECK_EVERY_MS = 2_000;

/**
 * @param close sends the client away, and returns what calls off the rest of that.
 * @returns what ends the watch.
 */
export function closeWithCredential({ holds }: Credential, clock: Clock, close: () => () => void): () => void {
  if (!holds) return () => {};
  const check = () => {
    if (holds()) cancel = clock.after(CHECK_EVERY_MS, check);
    else cancel = close();
  };
  let cancel = clock.after(CHECK_EVERY_MS, check);
  return () => cancel();
}
