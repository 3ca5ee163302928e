/** A line of the list of Sessions as clients see it: its row, and what only a live Session knows. It must never open one. */
import type { SessionRow } from '../core/log.ts';
import type { Runtime } from '../core/runtime.ts';
import type { ListedSession } from './wire.ts';

export function sessionInfo({ sessions }: Runtime, row: SessionRow): ListedSession {
  const { sessionId, workspace: cwd, additionalDirectories, title, updatedAt, createdAt, outcome, head } = row;
  const added = additionalDirectories.length > 0 && { additionalDirectories };
  const state = row.openTurnId === null ? 'idle' : 'running';
  // Permissions wait in an open Turn, and a Session with an open Turn is live.
  const waiting = sessions.live(sessionId)?.state.permissions.size ?? 0;
  const pixir = { state, waiting, outcome, seq: head.seq, createdAt } as const;
  return { sessionId, cwd, ...added, ...(title === null ? {} : { title }), updatedAt, _meta: { pixir } };
}
