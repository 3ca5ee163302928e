/** What a person who looks elsewhere is told, and what the tab is called. Pure: it decides, and shows nothing. */
import type { ListedSession } from '../../../src/client/connect.ts';
import { titleOf } from '../sessions/times.ts';

export interface Notice {
  sessionId: string;
  kind: 'needs_you' | 'ended';
  title: string;
  body: string;
}

/** What has happened between two readings of the list, also while nothing could be heard. */
export function noticesBetween(
  before: ReadonlyMap<string, ListedSession>,
  sessions: readonly ListedSession[],
): Notice[] {
  return sessions.flatMap((session): Notice[] => {
    const earlier = before.get(session.sessionId)?._meta.pixir;
    const { state, waiting, outcome } = session._meta.pixir;
    const { sessionId } = session;
    const title = nameOf(session);
    if (waiting > (earlier?.waiting ?? 0)) {
      const body = waiting === 1 ? 'Needs you: a permission waits.' : `Needs you: ${waiting} permissions wait.`;
      return [{ sessionId, kind: 'needs_you', title, body }];
    }
    const body = earlier?.state === 'running' && state === 'idle' ? ENDINGS[outcome ?? 'cancelled'] : undefined;
    return body === undefined ? [] : [{ sessionId, kind: 'ended', title, body }];
  });
}

/** Those that asked and ask no more: somebody has answered. */
export function answeredBetween(
  before: ReadonlyMap<string, ListedSession>,
  sessions: readonly ListedSession[],
): string[] {
  const waiting = (session: ListedSession | undefined) => session?._meta.pixir.waiting ?? 0;
  const now = new Map(sessions.map((session) => [session.sessionId, session]));
  return [...before.values()]
    .filter((earlier) => waiting(earlier) > 0 && waiting(now.get(earlier.sessionId)) === 0)
    .map(({ sessionId }) => sessionId);
}

type Outcome = NonNullable<ListedSession['_meta']['pixir']['outcome']>;

/** Whoever stopped it knows. */
const ENDINGS: Record<Outcome, string | undefined> = {
  completed: 'The Turn has ended.',
  failed: 'The Turn has failed.',
  timed_out: 'The Turn has run out of time.',
  interrupted: 'The Turn was interrupted.',
  cancelled: undefined,
};

/** @param title of what is on the screen; undefined at home. */
export function tabTitle(title: string | undefined, needing: number): string {
  const parts = [needing > 0 ? `(${needing}) Needs you` : undefined, title, 'Pixir'];
  return parts.filter((part) => part !== undefined).join(' · ');
}

export function nameOf({ title, _meta }: ListedSession): string {
  return titleOf({ title, createdAt: _meta.pixir.createdAt });
}
