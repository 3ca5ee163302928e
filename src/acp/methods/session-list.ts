/** `session/list`: the Sessions that the client may reach, newest first, page by page. It opens none of them. */
import * as z from 'zod';
import { list } from '../../core/lifecycle.ts';
import { invalidParams } from '../errors.ts';
import { cwdSchema, defineMethod } from '../method.ts';
import { sessionInfo } from '../session-info.ts';
import type { SessionPage } from '../wire.ts';

const PAGE = 50;

/** The last row of a page. It stays good whatever is created, updated or deleted meanwhile. */
const placeSchema = z.object({ updatedAt: z.iso.datetime(), sessionId: z.string() });

type Place = z.infer<typeof placeSchema>;

export const sessionList = defineMethod({
  name: 'session/list',
  kind: 'request',
  params: z.object({ cwd: cwdSchema.nullish(), cursor: z.string().max(1_024).nullish() }),
  async handle({ cwd, cursor }, { agent, connection }): Promise<SessionPage> {
    const from = cursor == null ? {} : { before: decodePlace(cursor) };
    const query = { workspace: cwd ?? undefined, ...from, limit: PAGE + 1 };
    const rows = await list(agent.runtime, connection.principal, query);
    const page = rows.slice(0, PAGE);
    const last = page.at(-1);
    const sessions = page.map((row) => sessionInfo(agent.runtime, row));
    return { sessions, ...(last && rows.length > PAGE ? { nextCursor: encodePlace(last) } : {}) };
  },
});

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
