/** `_pixir/session/verify`: whether the Log is still what was recorded, and where it is not. It changes nothing. */
import * as z from 'zod';
import { verifySession } from '../../core/timeline.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';

export const verify = defineMethod({
  name: '_pixir/session/verify',
  kind: 'request',
  params: z.object({ sessionId: sessionIdSchema }),
  handle({ sessionId }, { agent, connection, signal }) {
    return verifySession(agent.runtime, connection.principal, sessionId, signal);
  },
});
