/** Where the person is, as the address says it: `#/s/<sessionId>`, with `/log` for its timeline. Links to it are deep links. */
import { createStore } from './store.ts';

export type Route = { page: 'home' } | { page: 'session'; sessionId: string; view: 'conversation' | 'log' };

export const route = createStore<Route>(read());
addEventListener('hashchange', () => route.set(read()));

function read(): Route {
  const [, sessionId, view] = /^#\/s\/([^/]+)(\/log)?$/.exec(location.hash) ?? [];
  if (sessionId === undefined) return { page: 'home' };
  return { page: 'session', sessionId: decodeURIComponent(sessionId), view: view ? 'log' : 'conversation' };
}

export function linkTo(target: Route): string {
  if (target.page === 'home') return '#/';
  return `#/s/${encodeURIComponent(target.sessionId)}${target.view === 'log' ? '/log' : ''}`;
}

export function goTo(target: Route): void {
  location.hash = linkTo(target);
}
