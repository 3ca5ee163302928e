/** Since when this page has seen a Session run. When the Turn really began nobody tells: it never claims more than was seen. */
import type { OpenSession } from '../state/open-session.ts';
import { createStore, type Store } from '../state/store.ts';

const clocks = new WeakMap<OpenSession, Store<number | undefined>>();

/** Milliseconds since 1970; undefined while nothing runs. It goes on while another Session is on the screen. */
export function runningSince(session: OpenSession): Store<number | undefined> {
  const known = clocks.get(session);
  if (known) return known;
  const clock = createStore<number | undefined>(undefined);
  const look = () => clock.set(session.view.get().running ? (clock.get() ?? Date.now()) : undefined);
  session.view.subscribe(look);
  look();
  clocks.set(session, clock);
  return clock;
}
