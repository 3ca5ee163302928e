/** `session/cancel`: stops the Session's Turn. Without one it changes nothing, now or later. */
import * as z from 'zod';
import { interrupt } from '../../core/conversation.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';

export const sessionCancel = defineMethod({
  name: 'session/cancel',
  kind: 'notification',
  params: z.object({ sessionId: sessionIdSchema }),
  async handle({ sessionId }, { agent, connection }): Promise<void> {
    for (const prompt of connection.prompts(sessionId)) prompt.cancelRequested = true;
    if (await connection.feeds.observes(sessionId)) return;
    await interrupt(agent.runtime, connection.principal, sessionId);
  },
});
