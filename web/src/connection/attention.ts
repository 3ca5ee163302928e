/**
 * What the page says to somebody who does not look at it: the title and the icon of its tab, system notifications; and
 * that what they have looked at is read. It draws nothing inside the page, and never asks for permission.
 */
import type { ListedSession } from '../../../src/client/connect.ts';
import { type Client, connection } from '../server/client.ts';
import { route } from '../state/route.ts';
import { attentionOf, markRead, readMarks, sessions } from '../state/sessions.ts';
import { showBadge } from './favicon.ts';
import { installWorker } from './install.ts';
import { answeredBetween, nameOf, noticesBetween, tabTitle } from './notices.ts';
import { notify, startNotifying, withdraw } from './notify.ts';
import { followTheme } from './theme.ts';
import { startWake } from './wake.ts';

// Before anything is drawn.
followTheme();

const READ_AFTER_MS = 400;

export function startAttention(client: Client): void {
  startWake(client);
  startNotifying();
  installWorker();

  let before: ReadonlyMap<string, ListedSession> | undefined;

  const look = () => {
    const { loading, sessions: all } = sessions.get();
    drawTab(all);
    markSoon();
    if (loading) return;
    // What was there at the first reading is no news.
    if (before) {
      for (const sessionId of answeredBetween(before, all)) withdraw(sessionId).catch(() => undefined);
      for (const notice of noticesBetween(before, all)) notify(notice).catch(() => undefined);
    }
    before = new Map(all.map((session) => [session.sessionId, session]));
  };
  for (const { subscribe } of [sessions, route, connection]) subscribe(look);
  document.addEventListener('visibilitychange', look);
  look();
}

function drawTab(all: readonly ListedSession[]): void {
  const marks = readMarks.get();
  const states = all.map((session) => attentionOf(session, marks));
  const needing = states.filter((state) => state === 'needs_you').length;
  const where = route.get();
  const onScreen = where.page === 'session' ? all.find(({ sessionId }) => sessionId === where.sessionId) : undefined;
  document.title = tabTitle(onScreen && nameOf(onScreen), needing);
  const badge = needing > 0 ? 'needs_you' : states.includes('running') ? 'running' : undefined;
  showBadge(badge).catch(() => undefined);
}

let isMarking = false;

/** Not for every Event of a Turn that runs. */
function markSoon(): void {
  if (isMarking) return;
  isMarking = true;
  setTimeout(() => {
    isMarking = false;
    const where = route.get();
    // In sight, and nothing of it still to come: it is read.
    if (where.page === 'session' && !document.hidden && connection.get().kind === 'live') markRead(where.sessionId);
  }, READ_AFTER_MS);
}
