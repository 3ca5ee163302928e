/** What `session/new`, `load`, `resume` and `fork` answer alike, and what follows their answers. */
import type { LoadSessionResponse } from '@agentclientprotocol/sdk';
import type { ServerStatus } from '../core/session-tools.ts';
import type { Agent } from './agent.ts';
import { availableCommands } from './commands.ts';
import { configOptions, modeState } from './config-options.ts';
import type { Feed } from './feed.ts';
import type { MethodContext } from './method.ts';

/**
 * The modes and options as they are; how each MCP server of the request fared; and the position of the Feed for clients
 * that asked for cursors: they can be cut before the first update.
 */
export function sessionSetup(
  { session: { state }, options, cursor }: Feed,
  { runtime }: Agent,
  mcp: readonly ServerStatus[],
): LoadSessionResponse {
  const pixir = { ...(options.cursors && { cursor }), ...(mcp.length > 0 && { mcp }) };
  const meta = Object.keys(pixir).length > 0 ? { _meta: { pixir } } : {};
  return { modes: modeState(state), configOptions: configOptions(state, runtime.settings), ...meta };
}

/** Only after the answer: until then a client may not know the Session, and drop what is said of it. */
export async function offerCommands(feed: Feed, { agent, afterAnswer }: MethodContext): Promise<void> {
  const commands = availableCommands(await agent.runtime.findSkills(feed.session.state.workspace));
  afterAnswer(() => feed.show(commands));
}
