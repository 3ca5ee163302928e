/**
 * `session/fork`: a new Session that begins with what another had come to; the connection is attached to it at its end,
 * because the client has the conversation already.
 */
import type { ForkSessionResponse } from '@agentclientprotocol/sdk/unstable';
import * as z from 'zod';
import { fork } from '../../core/lifecycle.ts';
import type { Session } from '../../core/session.ts';
import { startAt } from '../cursor.ts';
import { invalidParams } from '../errors.ts';
import { equipSession, mcpServersSchema } from '../mcp-servers.ts';
import { cwdSchema, defineMethod, directoriesSchema, sessionIdSchema } from '../method.ts';
import { offerCommands, sessionSetup } from '../session-setup.ts';

export const sessionFork = defineMethod({
  name: 'session/fork',
  kind: 'request',
  params: z.object({
    sessionId: sessionIdSchema,
    cwd: cwdSchema,
    mcpServers: mcpServersSchema.optional(),
    additionalDirectories: directoriesSchema,
    _meta: z.object({ pixir: z.object({ cursor: z.string().max(1_024).optional() }).optional() }).nullish(),
  }),
  async handle(params, context): Promise<ForkSessionResponse> {
    const { sessionId, cwd: workspace, additionalDirectories, mcpServers, _meta } = params;
    const { agent, connection } = context;
    const cursor = _meta?.pixir?.cursor;
    const upTo = cursor === undefined ? undefined : (source: Session) => seqAt(source, cursor);
    const wanted = { sessionId, workspace, additionalDirectories, upTo };
    const create = () => fork(agent.runtime, connection.principal, wanted);
    const feed = await connection.feeds.attachNew(create);
    feed.start();
    await offerCommands(feed, context);
    return { sessionId: feed.session.id, ...sessionSetup(feed, agent, await equipSession(context, feed, mcpServers)) };
  },
});

async function seqAt(source: Session, cursor: string): Promise<number> {
  const start = await startAt(source, cursor);
  if (start.mode === 'reset') throw invalidParams('the cursor does not fit', { reason: start.reason });
  return start.position.seq;
}
