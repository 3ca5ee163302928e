/** `session/new`: a new Session in a directory; the connection is attached to it from its beginning. */
import type { NewSessionResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { start } from '../../core/conversation.ts';
import { fromHead } from '../feeds.ts';
import { cwdSchema, defineMethod, mcpServersSchema, noDirectoriesSchema } from '../method.ts';
import { sessionSetup } from '../session-setup.ts';

export const sessionNew = defineMethod({
  name: 'session/new',
  kind: 'request',
  params: z.object({
    cwd: cwdSchema,
    mcpServers: mcpServersSchema,
    additionalDirectories: noDirectoriesSchema,
  }),
  async handle({ cwd }, { agent, connection }): Promise<NewSessionResponse> {
    const session = await start(agent.runtime, connection.principal, { workspace: cwd });
    const feed = await connection.feeds.attach(session.id, fromHead);
    feed.start();
    return { sessionId: session.id, ...sessionSetup(feed, agent) };
  },
});
