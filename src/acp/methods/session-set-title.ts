/** `session/set_title`: names a Session, durably and for everybody; the runtime does not name it any more. */
import type { SetSessionTitleResponse } from '@agentclientprotocol/sdk/unstable';
import * as z from 'zod';
import { setTitle } from '../../core/lifecycle.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';

export const sessionSetTitle = defineMethod({
  name: 'session/set_title',
  kind: 'request',
  params: z.object({ sessionId: sessionIdSchema, title: z.string().trim().min(1).max(200) }),
  async handle({ sessionId, title }, { agent, connection }): Promise<SetSessionTitleResponse> {
    await connection.feeds.control(sessionId);
    await setTitle(agent.runtime, connection.principal, sessionId, title);
    return { title };
  },
});
