/** System notifications. None is shown while a tab of Pixir is in sight, none twice, and none that the person did not ask for. */
import { goTo } from '../state/route.ts';
import { settings } from '../state/settings.ts';
import type { Notice } from './notices.ts';

const open = new Map<string, Notification>();

/** Held by every tab in sight, so that the others know. */
const IN_SIGHT = 'pixir.in-sight';
/** Several tabs hear the same news within moments: the first to tell it keeps the others quiet for so long. */
const ONCE_MS = 3_000;

let leaveSight: (() => void) | undefined;

/** From now on the other tabs know whether this one is in sight; and a click on a notification leads to its Session. */
export function startNotifying(): void {
  const look = () => {
    leaveSight?.();
    leaveSight = undefined;
    if (document.hidden) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    leaveSight = resolve;
    navigator.locks?.request(IN_SIGHT, { mode: 'shared' }, () => promise).catch(() => undefined);
  };
  look();
  document.addEventListener('visibilitychange', look);
  navigator.serviceWorker?.addEventListener('message', ({ data }: MessageEvent<{ sessionId?: string }>) => {
    if (data.sessionId !== undefined) goToSession(data.sessionId);
  });
}

export async function notify(notice: Notice): Promise<void> {
  // Pages that were not served securely have no locks, and no notifications either.
  if (!document.hidden || !settings.get().notify || !navigator.locks || Notification.permission !== 'granted') return;
  const { held = [] } = await navigator.locks.query();
  if (held.some(({ name }) => name === IN_SIGHT)) return;
  const { kind, sessionId, body } = notice;
  await navigator.locks.request(`pixir.told ${kind} ${sessionId} ${body}`, { ifAvailable: true }, async (lock) => {
    if (!lock) return;
    await tell(notice);
    await new Promise((resolve) => setTimeout(resolve, ONCE_MS));
  });
}

/** What it said is not so any more. */
export async function withdraw(sessionId: string): Promise<void> {
  open.get(sessionId)?.close();
  open.delete(sessionId);
  const registration = await navigator.serviceWorker?.getRegistration();
  for (const shown of (await registration?.getNotifications({ tag: tagOf(sessionId) })) ?? []) shown.close();
}

async function tell(notice: Notice): Promise<void> {
  const { sessionId, title, body } = notice;
  const options = { body, tag: tagOf(sessionId), icon: './assets/icon-192.png', data: { sessionId } };
  const registration = await navigator.serviceWorker?.getRegistration();
  // The worker's outlives the tab, and is the only kind there is on phones.
  if (registration?.active) return registration.showNotification(title, options);
  const shown = new Notification(title, options);
  open.set(sessionId, shown);
  shown.onclick = () => {
    shown.close();
    window.focus();
    goToSession(sessionId);
  };
}

function goToSession(sessionId: string): void {
  goTo({ page: 'session', sessionId, view: 'conversation' });
}

function tagOf(sessionId: string): string {
  return `pixir ${sessionId}`;
}
