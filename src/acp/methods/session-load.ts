/** `session/load`: the whole conversation as updates, and only then the response; live from there on. */
import type { LoadSessionResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { FROM_START } from '../cursor.ts';
import type { AttachPlan } from '../feeds.ts';
import { equipSession, mcpServersSchema } from '../mcp-servers.ts';
import { cwdSchema, defineMethod, directoriesSchema, sessionIdSchema } from '../method.ts';
import { reopen } from '../reopen.ts';
import { sessionSetup } from '../session-setup.ts';

/** Everything but the thoughts of the past: the seed leaves them out of a load. */
const fromStart: AttachPlan = async ({ head }) => ({ position: FROM_START, options: { thoughtsAfter: head } });

export const sessionLoad = defineMethod({
  name: 'session/load',
  kind: 'request',
  params: z.object({
    sessionId: sessionIdSchema,
    cwd: cwdSchema,
    mcpServers: mcpServersSchema,
    additionalDirectories: directoriesSchema,
  }),
  async handle(params, context): Promise<LoadSessionResponse> {
    const feed = await reopen(context, params, fromStart);
    const [servers] = await Promise.all([equipSession(context, feed, params.mcpServers), feed.caughtUp()]);
    return sessionSetup(feed, context.agent, servers);
  },
});
