/**
 * `_pixir/session/history`: pages backwards through what was before a cursor, for clients that open a long Session at its
 * end. The updates are those of a replay, in the same order within a page.
 */
import * as z from 'zod';
import { blobsOf, loadBlobs } from '../../core/blobs.ts';
import { attach as watch } from '../../core/conversation.ts';
import type { Entry } from '../../core/log.ts';
import { configOptions } from '../config-options.ts';
import { encodeCursor, headPosition, startAt } from '../cursor.ts';
import { invalidParams } from '../errors.ts';
import { updateParams } from '../frames.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';
import { updatesOf } from '../translate.ts';
import type { HistoryPage } from '../wire.ts';

const MAX_EVENTS = 500;
/** As much as one prompt may hold: a page has at least one Event. */
const MAX_BLOB_BYTES = 16 * 1024 * 1024;

export const history = defineMethod({
  name: '_pixir/session/history',
  kind: 'request',
  params: z.object({
    sessionId: sessionIdSchema,
    before: z.string().max(1_024).optional(),
    limit: z.number().int().min(1).max(MAX_EVENTS),
  }),
  async handle({ sessionId, before, limit }, { agent: { runtime }, connection }): Promise<HistoryPage> {
    const { session, stop } = await watch(runtime, connection.principal, sessionId, () => {});
    try {
      const start = before === undefined ? undefined : await startAt(session, before);
      if (start?.mode === 'reset') throw invalidParams('the cursor does not fit', { reason: start.reason });
      const { seq } = start?.position ?? headPosition(session);
      const oldest = Math.max(-1, seq - limit);
      const entries = newestWithin(MAX_BLOB_BYTES, await session.read(oldest, seq - oldest));
      const after = seq - entries.length;
      const [boundary] = after < 0 ? [] : await session.read(after - 1, 1);
      const blobs = await loadBlobs(
        runtime.blobs,
        entries.flatMap(({ event }) => blobsOf(event)),
      );
      const options = () => configOptions(session.state, runtime.settings);
      const { compaction } = connection.feeds;
      const view = { offset: 0, thoughts: true, compaction, blobs, configOptions: options };
      const updates = entries.flatMap(({ event }) => {
        const promptKey = event.type === 'user_message' ? event.data.promptKey : undefined;
        const meta = promptKey === undefined ? undefined : { promptKey };
        return updatesOf(event, view).map((update) => updateParams(sessionId, update, meta));
      });
      const at = boundary && { seq: after, chk: boundary.chk };
      return { updates, before: at ? encodeCursor(session.tail.epoch, at) : null };
    } finally {
      stop();
    }
  },
});

/** The newest entries whose blobs are not more than this together. */
function newestWithin(bytes: number, entries: readonly Entry[]): Entry[] {
  let room = bytes;
  const tooMuch = entries.findLastIndex(({ event }) => {
    for (const { size } of blobsOf(event)) room -= size;
    return room < 0;
  });
  return entries.slice(tooMuch + 1);
}
