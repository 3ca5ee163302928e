/** The MCP servers that a request lists: how they are written, and how the client hears of those that failed. */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { equip } from '../core/conversation.ts';
import type { ServerStatus, ToolServer } from '../core/session-tools.ts';
import { visible } from '../core/visible.ts';
import type { Feed } from './feed.ts';
import type { MethodContext } from './method.ts';

const MAX_SERVERS = 32;

const name = z.string().min(1).max(128);
const settings = z.array(z.object({ name: z.string(), value: z.string() }));
const remote = { name, url: z.url({ protocol: /^https?$/ }), headers: settings };

const serverSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('http'), ...remote }),
  z.object({ type: z.literal('sse'), ...remote }),
  z.object({
    // The protocol leaves it out.
    type: z.literal('stdio').default('stdio'),
    name,
    command: z.string().regex(/^(\/|[A-Za-z]:[\\/])/, 'command must be an absolute path'),
    args: z.array(z.string()),
    env: settings,
  }),
]);

/** Null means none. */
export const mcpServersSchema = z.array(serverSchema).max(MAX_SERVERS).nullable();

/**
 * Connects the Session to these servers and to no others; absent, it keeps what it has. Whoever fails is in the answer,
 * and shown by clients that can.
 */
export async function equipSession(
  { agent, connection, afterAnswer }: MethodContext,
  feed: Feed,
  servers: readonly ToolServer[] | null | undefined,
): Promise<ServerStatus[]> {
  if (servers === undefined) return [];
  const statuses = await equip(agent.runtime, connection.principal, feed.session.id, servers ?? []);
  const failed = statuses.filter(({ ok }) => !ok);
  if (connection.notices) for (const one of failed) afterAnswer(() => feed.show(noticeOf(one)));
  return statuses;
}

function noticeOf({ name, message }: ServerStatus): SessionUpdate {
  const title = `The MCP server ${visible(name)} is not available`;
  return { sessionUpdate: 'notice', severity: 'warning', title, description: message ?? null };
}
