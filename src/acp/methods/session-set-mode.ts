/** `session/set_mode`: the same change as the config option `mode`, under its older name. */
import type { SetSessionModeResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { configure } from '../../core/conversation.ts';
import { CoreError } from '../../core/errors.ts';
import { modeSchema } from '../../core/event.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';

export const sessionSetMode = defineMethod({
  name: 'session/set_mode',
  kind: 'request',
  params: z.object({ sessionId: sessionIdSchema, modeId: z.string() }),
  async handle({ sessionId, modeId }, { agent, connection }): Promise<SetSessionModeResponse> {
    await connection.feeds.control(sessionId);
    const mode = modeSchema.safeParse(modeId);
    if (!mode.success) throw new CoreError('unsupported_value', 'unknown mode', { mode: modeId.slice(0, 64) });
    await configure(agent.runtime, connection.principal, sessionId, { mode: mode.data });
    return {};
  },
});
