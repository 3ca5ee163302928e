/** `session/resume`: attaches at the head; the client has the conversation already and is sent none of it. */
import type { ResumeSessionResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { fromHead } from '../feeds.ts';
import { cwdSchema, defineMethod, mcpServersSchema, noDirectoriesSchema, sessionIdSchema } from '../method.ts';
import { reopen } from '../reopen.ts';
import { sessionSetup } from '../session-setup.ts';

export const sessionResume = defineMethod({
  name: 'session/resume',
  kind: 'request',
  params: z.object({
    sessionId: sessionIdSchema,
    cwd: cwdSchema,
    mcpServers: mcpServersSchema.optional(),
    additionalDirectories: noDirectoriesSchema,
  }),
  async handle(params, context): Promise<ResumeSessionResponse> {
    const feed = await reopen(context, params, fromHead);
    return sessionSetup(feed, context.agent);
  },
});
