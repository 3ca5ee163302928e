/** `session/list`: the Sessions that the client may reach, newest first, page by page. It opens none of them. */
import type { ListSessionsResponse, SessionInfo } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { list } from '../../core/lifecycle.ts';
import type { SessionRow } from '../../core/log.ts';
import { invalidParams } from '../errors.ts';
import { cwdSchema, defineMethod } from '../method.ts';

const PAGE = 50;

/** The last row of a page. It stays good whatever is created, updated or deleted meanwhile. */
const placeSchema = z.object({ updatedAt: z.iso.datetime(), sessionId: z.string() });

type Place = z.infer<typeof placeSchema>;

export const sessionList = defineMethod({
  name: 'session/list',
  kind: 'request',
  params: z.object({ cwd: cwdSchema.nullish(), cursor: z.string().max(1_024).nullish() }),
  async handle({ cwd, cursor }, { agent, connection }): Promise<ListSessionsResponse> {
    const from = cursor == null ? {} : { before: decodePlace(cursor) };
    const query = { workspace: cwd ?? undefined, ...from, limit: PAGE + 1 };
    const rows = await list(agent.runtime, connection.principal, query);
    const page = rows.slice(0, PAGE);
    const last = page.at(-1);
    return { sessions: page.map(infoOf), ...(last && rows.length > PAGE ? { nextCursor: encodePlace(last) } : {}) };
  },
});

function infoOf(row: SessionRow): SessionInfo {
  const { sessionId, workspace: cwd, additionalDirectories, title, updatedAt, openTurnId } = row;
  const added = additionalDirectories.length > 0 && { additionalDirectories };
  const _meta = { pixir: { state: openTurnId === null ? 'idle' : 'running' } };
  return { sessionId, cwd, ...added, ...(title === null ? {} : { title }), updatedAt, _meta };
}

function encodePlace({ updatedAt, sessionId }: Place): string {
  return Buffer.from(JSON.stringify({ updatedAt, sessionId })).toString('base64url');
}

function decodePlace(cursor: string): Place {
  try {
    return placeSchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    throw invalidParams('the cursor does not fit', { field: 'cursor' });
  }
}
