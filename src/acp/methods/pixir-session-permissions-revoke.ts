/** `_pixir/session/permissions/revoke`: ends a rule, so that what it covered is asked again; it decides nothing else. */
import * as z from 'zod';
import { assertMay } from '../../core/principal.ts';
import { revokeRule } from '../../core/rules.ts';
import { onlyObserving } from '../errors.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';

export const permissionsRevoke = defineMethod({
  name: '_pixir/session/permissions/revoke',
  kind: 'request',
  params: z.object({ sessionId: sessionIdSchema, ruleId: z.string().max(64) }),
  async handle({ sessionId, ruleId }, { agent, connection }): Promise<Record<string, never>> {
    assertMay(connection.principal, 'approve');
    if (await connection.feeds.observes(sessionId)) throw onlyObserving();
    await revokeRule(agent.runtime, connection.principal, sessionId, ruleId);
    return {};
  },
});
