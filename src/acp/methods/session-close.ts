/**
 * `session/close`: stops the Session's Turn and its MCP servers, for everybody, and ends this connection's subscription.
 * Who may only watch stops nothing; a Session that is not there is closed already.
 */
import * as z from 'zod';
import { equip, interrupt } from '../../core/conversation.ts';
import { may } from '../../core/principal.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';
import { cancelPrompts, unlessUnknown } from '../open-prompts.ts';

export const sessionClose = defineMethod({
  name: 'session/close',
  kind: 'request',
  params: z.object({ sessionId: sessionIdSchema }),
  async handle({ sessionId }, { agent: { runtime }, connection }): Promise<Record<string, never>> {
    const { feeds, principal } = connection;
    if (may(principal, 'prompt') && !(await feeds.observes(sessionId))) {
      const answered = cancelPrompts(connection, sessionId);
      await unlessUnknown(interrupt(runtime, principal, sessionId));
      await unlessUnknown(equip(runtime, principal, sessionId, []));
      await answered;
    }
    feeds.detach(sessionId);
    return {};
  },
});
