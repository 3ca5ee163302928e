/** `session/set_config_option`: changes one option, durably, and answers with the complete list. */
import type { SetSessionConfigOptionResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { configure } from '../../core/conversation.ts';
import { configChange, configOptions } from '../config-options.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';

export const sessionSetConfigOption = defineMethod({
  name: 'session/set_config_option',
  kind: 'request',
  params: z.object({ sessionId: sessionIdSchema, configId: z.string(), value: z.union([z.string(), z.boolean()]) }),
  async handle({ sessionId, configId, value }, { agent, connection }): Promise<SetSessionConfigOptionResponse> {
    await connection.feeds.control(sessionId);
    const session = await configure(agent.runtime, connection.principal, sessionId, configChange(configId, value));
    return { configOptions: configOptions(session.state, agent.runtime.settings) };
  },
});
