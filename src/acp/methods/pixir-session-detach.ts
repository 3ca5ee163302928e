/** `_pixir/session/detach`: ends the connection's subscription. The Session and its Turn do not notice. */
import * as z from 'zod';
import { invalidParams } from '../errors.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';

export const detach = defineMethod({
  name: '_pixir/session/detach',
  kind: 'request',
  params: z.object({ sessionId: sessionIdSchema }),
  handle({ sessionId }, { connection }): Record<string, never> {
    if (!connection.feeds.detach(sessionId)) {
      throw invalidParams('this connection is not attached to the session', { reason: 'not_attached' });
    }
    return {};
  },
});
