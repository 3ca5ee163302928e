/** The list of Sessions as it is on the screen: what is searched for and what is folded away. Keys and the sidebar share it. */
import type { ListedSession } from '../../../src/client/connect.ts';
import { keptStore } from '../state/kept.ts';
import { sessions } from '../state/sessions.ts';
import { createStore } from '../state/store.ts';
import { grouped, matching, steadyOrder } from './list.ts';

export const query = createStore('');

/** Folders whose Sessions are folded away, on this device. */
export const collapsed = keptStore<readonly string[]>('collapsed', []);

/** Where the last Session began, on this device. */
export const lastFolder = keptStore('folder', '');

const order = steadyOrder();

/** All Sessions in the order in which they are shown. */
export const ordered = createStore(order(sessions.get().sessions));
sessions.subscribe(() => ordered.set(order(sessions.get().sessions)));

export function toggleGroup(cwd: string): void {
  const folded = collapsed.get();
  collapsed.set(folded.includes(cwd) ? folded.filter((other) => other !== cwd) : [...folded, cwd]);
}

/** While something is searched for, nothing is folded away. */
export function isFolded(cwd: string, folded: readonly string[], searched: string): boolean {
  return searched.trim() === '' && folded.includes(cwd);
}

/** From top to bottom, as a person sees them. */
export function visibleSessions(): readonly ListedSession[] {
  const searched = query.get();
  return grouped(matching(ordered.get(), searched))
    .filter(({ cwd }) => !isFolded(cwd, collapsed.get(), searched))
    .flatMap(({ sessions: inside }) => inside);
}
