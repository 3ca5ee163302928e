/** `session/set_model`: kept for clients from before config options; the same change as the option `model`. */
import * as z from 'zod';
import { configure } from '../../core/conversation.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';

export const sessionSetModel = defineMethod({
  name: 'session/set_model',
  kind: 'request',
  params: z.object({ sessionId: sessionIdSchema, modelId: z.string() }),
  async handle({ sessionId, modelId }, { agent, connection }): Promise<Record<string, never>> {
    await connection.feeds.control(sessionId);
    await configure(agent.runtime, connection.principal, sessionId, { model: modelId });
    return {};
  },
});
