/** `session/load`: the whole conversation as updates, and only then the response; live from there on. */
import type { LoadSessionResponse } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { cwdSchema, defineMethod, mcpServersSchema, noDirectoriesSchema, sessionIdSchema } from '../method.ts';
import { reopen } from '../reopen.ts';
import { sessionSetup } from '../session-setup.ts';

export const sessionLoad = defineMethod({
  name: 'session/load',
  kind: 'request',
  params: z.object({
    sessionId: sessionIdSchema,
    cwd: cwdSchema,
    mcpServers: mcpServersSchema,
    additionalDirectories: noDirectoriesSchema,
  }),
  async handle(params, context): Promise<LoadSessionResponse> {
    const feed = await reopen(context, params, 'start');
    await feed.caughtUp();
    return sessionSetup(feed.session, context.agent);
  },
});
