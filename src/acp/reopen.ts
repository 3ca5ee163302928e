/** What `session/load` and `session/resume` share: the same Feed, from another position. */
import { attach, workspaceFor } from '../core/conversation.ts';
import { CoreError } from '../core/errors.ts';
import type { Feed } from './feed.ts';
import type { AttachPlan } from './feeds.ts';
import type { MethodContext } from './method.ts';

/**
 * Attaches the connection to a stored Session and starts to send.
 *
 * @throws CoreError `unknown_session`; `invalid_params` when the Session belongs to another directory: its tools would
 *   work elsewhere than the client believes.
 */
export async function reopen(
  { agent, connection }: MethodContext,
  { sessionId, cwd }: { sessionId: string; cwd: string },
  plan: AttachPlan,
): Promise<Feed> {
  // Watched until the Feed does: a Session that nobody holds would be read from the Log a second time.
  const watch = await attach(agent.runtime, connection.principal, sessionId, () => undefined);
  try {
    if ((await workspaceFor(agent.runtime, connection.principal, cwd)) !== watch.session.state.workspace) {
      throw new CoreError('invalid_params', 'the session belongs to another directory', { field: 'cwd' });
    }
    const feed = await connection.feeds.attach(sessionId, plan);
    feed.start();
    return feed;
  } finally {
    watch.stop();
  }
}
