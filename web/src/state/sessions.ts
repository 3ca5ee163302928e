/**
 * The list of Sessions as the page shows it: read once on every connection, kept right by the server's notifications. What
 * was read is this browser's own business.
 */
import type { ListedSession, SessionsChanged } from '../../../src/client/connect.ts';
import { type Client, connection } from '../server/client.ts';
import { onSessionsChanged } from '../server/wire-tap.ts';
import { keptStore } from './kept.ts';
import { createStore } from './store.ts';

/** In the order of what a person should look at first. */
export type Attention = 'needs_you' | 'running' | 'failed' | 'unread' | 'idle';

export interface SessionsView {
  /** Nothing was read yet. */
  loading: boolean;
  /** Newest first. */
  sessions: readonly ListedSession[];
}

export const sessions = createStore<SessionsView>({ loading: true, sessions: [] });

/** By Session: the seq up to which this browser has shown it. */
const read = keptStore<Record<string, number>>('read', {});
export const readMarks = read;

export function attentionOf(session: ListedSession, marks: Record<string, number>): Attention {
  const { state, waiting, outcome, seq } = session._meta.pixir;
  if (waiting > 0) return 'needs_you';
  if (state === 'running') return 'running';
  const seen = marks[session.sessionId];
  if (seen === undefined || seen >= seq) return 'idle';
  return outcome === 'failed' || outcome === 'timed_out' ? 'failed' : 'unread';
}

/** Everything of it has been shown. */
export function markRead(sessionId: string): void {
  const session = sessions.get().sessions.find((other) => other.sessionId === sessionId);
  const seq = session?._meta.pixir.seq;
  if (seq !== undefined && read.get()[sessionId] !== seq) read.set({ ...read.get(), [sessionId]: seq });
}

const MOST = 2_000;

/** Keeps `sessions` right for as long as the page lives. */
export function followSessions(client: Client): void {
  onSessionsChanged(merge);
  let reading = false;
  const changed = () => {
    const { kind } = connection.get();
    const isConnected = kind === 'live' || kind === 'catching_up';
    if (!isConnected) reading = false;
    else if (!reading) {
      reading = true;
      // Told again on the next connection.
      readAll(client).catch(() => undefined);
    }
  };
  connection.subscribe(changed);
  changed();
}

/** First heard, then read: what changes in between is told. */
async function readAll(client: Client): Promise<void> {
  const meanwhile: SessionsChanged[] = [];
  const stop = onSessionsChanged((changed) => meanwhile.push(changed));
  await client.request('_pixir/sessions/watch', {});
  const found: ListedSession[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await client.request('session/list', cursor ? { cursor } : {});
    found.push(...(page.sessions as ListedSession[]));
    cursor = page.nextCursor;
  } while (cursor && found.length < MOST);
  beginMarks(found);
  stop();
  sessions.set({ loading: false, sessions: newestFirst(found) });
  for (const changed of meanwhile) merge(changed);
}

/** What was there when this device first heard of a Session is not new; whatever comes after it is, until it was shown. */
function beginMarks(heard: readonly ListedSession[]): void {
  const marks = read.get();
  const unknown = heard.filter(({ sessionId }) => marks[sessionId] === undefined);
  if (unknown.length === 0) return;
  read.set({ ...marks, ...Object.fromEntries(unknown.map(({ sessionId, _meta }) => [sessionId, _meta.pixir.seq])) });
}

function merge({ sessions: changed, removed }: SessionsChanged): void {
  beginMarks(changed);
  const gone = new Set([...removed, ...changed.map(({ sessionId }) => sessionId)]);
  const kept = sessions.get().sessions.filter(({ sessionId }) => !gone.has(sessionId));
  sessions.set({ ...sessions.get(), sessions: newestFirst([...changed, ...kept]) });
}

function newestFirst(list: ListedSession[]): ListedSession[] {
  return list.sort((one, other) => (other.updatedAt ?? '').localeCompare(one.updatedAt ?? ''));
}
