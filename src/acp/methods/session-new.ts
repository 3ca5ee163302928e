/** `session/new`: a new Session in a directory; the connection is attached to it from its beginning. */
import type { NewSessionResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { start } from '../../core/lifecycle.ts';
import { equipSession, mcpServersSchema } from '../mcp-servers.ts';
import { cwdSchema, defineMethod, directoriesSchema } from '../method.ts';
import { offerCommands, sessionSetup } from '../session-setup.ts';

export const sessionNew = defineMethod({
  name: 'session/new',
  kind: 'request',
  params: z.object({
    cwd: cwdSchema,
    mcpServers: mcpServersSchema,
    additionalDirectories: directoriesSchema,
  }),
  async handle({ cwd: workspace, mcpServers, additionalDirectories }, context): Promise<NewSessionResponse> {
    const { agent, connection } = context;
    const create = () => start(agent.runtime, connection.principal, { workspace, additionalDirectories });
    const feed = await connection.feeds.attachNew(create);
    feed.start();
    await offerCommands(feed, context);
    return { sessionId: feed.session.id, ...sessionSetup(feed, agent, await equipSession(context, feed, mcpServers)) };
  },
});
