/** `session/resume`: attaches at the head; the client has the conversation already and is sent none of it. */
import type { ResumeSessionResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { fromHead } from '../feeds.ts';
import { equipSession, mcpServersSchema } from '../mcp-servers.ts';
import { cwdSchema, defineMethod, directoriesSchema, sessionIdSchema } from '../method.ts';
import { reopen } from '../reopen.ts';
import { sessionSetup } from '../session-setup.ts';

export const sessionResume = defineMethod({
  name: 'session/resume',
  kind: 'request',
  params: z.object({
    sessionId: sessionIdSchema,
    cwd: cwdSchema,
    mcpServers: mcpServersSchema.optional(),
    additionalDirectories: directoriesSchema,
  }),
  async handle(params, context): Promise<ResumeSessionResponse> {
    const feed = await reopen(context, params, fromHead);
    return sessionSetup(feed, context.agent, await equipSession(context, feed, params.mcpServers));
  },
});
