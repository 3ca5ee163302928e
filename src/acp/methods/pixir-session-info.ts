/**
 * `_pixir/session/info`: a Session as it is now, for clients that open it at its end: what they would else have to read the
 * whole transcript for. It changes nothing and subscribes to nothing.
 */
import * as z from 'zod';
import { inspect } from '../../core/session-list.ts';
import { availableCommands } from '../commands.ts';
import { configOptions, modeState } from '../config-options.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';
import { sessionInfo } from '../session-info.ts';
import type { SessionDetails } from '../wire.ts';

export const info = defineMethod({
  name: '_pixir/session/info',
  kind: 'request',
  params: z.object({ sessionId: sessionIdSchema }),
  async handle({ sessionId }, { agent: { runtime }, connection }): Promise<SessionDetails> {
    const { session, row, skills } = await inspect(runtime, connection.principal, sessionId);
    const { state } = session;
    const permissions = [...state.permissions.values()].map(({ permissionId, expiresAt }) => {
      return { permissionId, expiresAt: new Date(expiresAt).toISOString() };
    });
    return {
      session: sessionInfo(runtime, row),
      modes: modeState(state),
      configOptions: configOptions(state, runtime.settings),
      commands: availableCommands(skills).availableCommands,
      plan: state.plan.length > 0 ? state.plan : null,
      usage: state.usage,
      permissions,
    };
  },
});
