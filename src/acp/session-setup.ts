/** What `session/new`, `load` and `resume` answer alike: the modes and options as they are. */
import type { LoadSessionResponse } from '@agentclientprotocol/sdk';
import type { Session } from '../core/session.ts';
import type { Agent } from './agent.ts';
import { configOptions, modeState } from './config-options.ts';

export function sessionSetup({ state }: Session, { runtime }: Agent): LoadSessionResponse {
  return { modes: modeState(state), configOptions: configOptions(state, runtime.settings) };
}
