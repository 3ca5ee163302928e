/** Times as the list shows them, and the one clock that keeps them right. Reading it never starts a timer of its own. */
import { createStore } from '../state/store.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in two or three characters; the date where that is no longer of use. */
export function ago(iso: string, now: number): string {
  const at = Date.parse(iso);
  const past = now - at;
  if (Number.isNaN(at)) return '';
  if (past < MINUTE) return 'now';
  if (past < HOUR) return `${Math.floor(past / MINUTE)}m`;
  if (past < DAY) return `${Math.floor(past / HOUR)}h`;
  if (past < 7 * DAY) return `${Math.floor(past / DAY)}d`;
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return new Date(at).toLocaleDateString(undefined, {
    day: 'numeric',
    month: 'short',
    ...(!sameYear && { year: '2-digit' }),
  });
}

/** What a Session without a title is called: it has begun at some time. */
export function titleOf(of: { title: string | null | undefined; createdAt: string | undefined }): string {
  if (of.title) return of.title;
  const at = new Date(of.createdAt ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return 'Untitled';
  const isToday = at.toDateString() === new Date().toDateString();
  const day = isToday ? {} : ({ day: 'numeric', month: 'short' } as const);
  return `Untitled, ${at.toLocaleString(undefined, { ...day, hour: '2-digit', minute: '2-digit' })}`;
}

/** The present, twice a minute. */
export const clock = createStore(Date.now());

/** @returns what ends it. */
export function startClock(): () => void {
  const tick = () => clock.set(Date.now());
  const timer = setInterval(tick, MINUTE / 2);
  // Timers sleep with the machine.
  document.addEventListener('visibilitychange', tick);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', tick);
  };
}
