/**
 * What somebody who shows the list of Sessions needs beside `list`: to hear that a row may have changed, and to read rows
 * anew. Both carry no truth and open no Session; nobody is told of one that they do not reach.
 */
import { CoreError } from './errors.ts';
import type { SessionRow } from './log.ts';
import { assertMay, type Principal, reaches } from './principal.ts';
import { findSession, holdSession } from './reach.ts';
import type { Runtime } from './runtime.ts';
import type { Session } from './session.ts';
import type { Skill } from './skills.ts';

/**
 * Calls `listener`, synchronously, with the id of each Session of which something was recorded, and of each that was
 * deleted (`gone`). One that is being made is named before it is known whose it is: `readRows` knows.
 *
 * @returns what ends it. @throws CoreError `forbidden`.
 */
export function onChange(
  { bus, sessions }: Runtime,
  principal: Principal,
  listener: (sessionId: string, gone: boolean) => void,
): () => void {
  assertMay(principal, 'observe');
  return bus.subscribeToAll(({ type }, sessionId) => {
    if (type !== 'committed' && type !== 'deleted') return;
    const gone = type === 'deleted';
    // Whatever happens to a Session happens while it is live, but for its making.
    const session = sessions.live(sessionId);
    if (session ? reaches(principal, session.state) : !gone) listener(sessionId, gone);
  });
}

/** Their rows as they are now, without those of Sessions that are not there for the principal. */
export async function readRows(
  { log }: Runtime,
  principal: Principal,
  sessionIds: readonly string[],
): Promise<SessionRow[]> {
  const rows = await Promise.all(sessionIds.map((sessionId) => log.session(sessionId)));
  return rows.flatMap((row) => (row && reaches(principal, row) ? [row] : []));
}

/**
 * A look at a Session as it is now, its row, and the skills of its Workspace.
 *
 * @throws CoreError `forbidden`, `unknown_session`, `invalid_params`.
 */
export async function inspect(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
): Promise<{ session: Session; row: SessionRow; skills: readonly Skill[] }> {
  using hold = await holdSession(runtime, principal, sessionId, 'observe');
  const { session } = hold;
  const skills = await runtime.findSkills(session.state.workspace);
  const row = await findSession(runtime, principal, sessionId, 'observe');
  // Deleted in this very moment.
  if (!row) throw new CoreError('unknown_session', 'unknown session', { sessionId });
  return { session, row, skills };
}
