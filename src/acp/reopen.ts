/** What `session/load` and `session/resume` share: the same Feed, from another position. */
import { resume } from '../core/conversation.ts';
import { CoreError } from '../core/errors.ts';
import type { Connection } from './connection.ts';
import type { Feed } from './feed.ts';
import type { MethodContext } from './method.ts';

/**
 * Attaches the connection to a stored Session.
 *
 * @throws CoreError `unknown_session`; `invalid_params` when the Session belongs to another directory: its tools would
 *   work elsewhere than the client believes.
 */
export async function reopen(
  { agent, connection }: MethodContext,
  { sessionId, cwd }: { sessionId: string; cwd: string },
  from: Parameters<Connection['attach']>[1],
): Promise<Feed> {
  const { state } = await resume(agent.runtime, sessionId);
  if ((await agent.runtime.resolveWorkspace(cwd)) !== state.workspace) {
    throw new CoreError('invalid_params', 'the session belongs to another directory', { field: 'cwd' });
  }
  return connection.attach(sessionId, from);
}
