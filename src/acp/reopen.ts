/** What `session/load` and `session/resume` share: the same Feed, from another position. */
import { attach } from '../core/conversation.ts';
import { setDirectories } from '../core/lifecycle.ts';
import { may } from '../core/principal.ts';
import { assertWorkspace, directoriesFor } from '../core/reach.ts';
import type { Feed } from './feed.ts';
import type { AttachPlan } from './feeds.ts';
import type { MethodContext } from './method.ts';
import { offerCommands } from './session-setup.ts';

/**
 * Attaches the connection to a stored Session and starts to send. The Session has the directories of this request from
 * now on, unless whoever asks may only watch.
 *
 * @throws CoreError `unknown_session`; `invalid_params` for a bad directory, or when the Session belongs to another one.
 */
export async function reopen(
  context: MethodContext,
  { sessionId, cwd, additionalDirectories }: { sessionId: string; cwd: string; additionalDirectories: string[] },
  plan: AttachPlan,
): Promise<Feed> {
  const { agent, connection } = context;
  // Watched until the Feed does: a Session that nobody holds would be read from the Log a second time.
  const watch = await attach(agent.runtime, connection.principal, sessionId, () => undefined);
  try {
    const { runtime } = agent;
    const { principal } = connection;
    await assertWorkspace(runtime, principal, watch.session, cwd);
    const directories = may(principal, 'prompt')
      ? await directoriesFor(runtime, principal, watch.session.state.workspace, additionalDirectories)
      : undefined;
    // Not before there is a place for the Feed: what is refused changes nothing.
    const feed = await connection.feeds.attach(sessionId, async (session) => {
      if (directories) await setDirectories(runtime, principal, sessionId, directories);
      return plan(session);
    });
    feed.start();
    await offerCommands(feed, context);
    return feed;
  } finally {
    watch.stop();
  }
}
