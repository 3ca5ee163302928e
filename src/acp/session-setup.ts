/** What `session/new`, `load` and `resume` answer alike: the modes and options as they are. */
import type { LoadSessionResponse } from '@agentclientprotocol/sdk';
import type { Agent } from './agent.ts';
import { configOptions, modeState } from './config-options.ts';
import type { Feed } from './feed.ts';

/** With the position of the Feed for clients that asked for cursors: they can be cut before the first update. */
export function sessionSetup({ session: { state }, options, cursor }: Feed, { runtime }: Agent): LoadSessionResponse {
  const meta = options.cursors ? { _meta: { pixir: { cursor } } } : {};
  return { modes: modeState(state), configOptions: configOptions(state, runtime.settings), ...meta };
}
