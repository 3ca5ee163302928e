/** `_pixir/session/permissions`: what is decided without asking. It changes nothing. */
import * as z from 'zod';
import { ruleText } from '../../core/rule.ts';
import { listRules } from '../../core/rules.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';

export const permissions = defineMethod({
  name: '_pixir/session/permissions',
  kind: 'request',
  params: z.object({ sessionId: sessionIdSchema }),
  async handle({ sessionId }, { agent, connection }) {
    const rules = await listRules(agent.runtime, connection.principal, sessionId);
    return {
      rules: rules.map(({ ruleId, decision, tool, text, by, at }) => {
        return { ruleId, decision, tool, text: ruleText(decision, text), by, at };
      }),
    };
  },
});
