/** `_pixir/session/log`: pages backwards through the Log as it was recorded. What an Event refers to stays a reference. */
import * as z from 'zod';
import type { Entry } from '../../core/log.ts';
import { readBack } from '../../core/timeline.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';
import type { LoggedEvent, LogPage } from '../wire.ts';

const MAX_EVENTS = 500;
/** As much as the Events of one page may have together. */
const MAX_BYTES = 1024 * 1024;

export const log = defineMethod({
  name: '_pixir/session/log',
  kind: 'request',
  params: z.object({
    sessionId: sessionIdSchema,
    before: z.number().int().min(0).optional(),
    limit: z.number().int().min(1).max(MAX_EVENTS),
    full: z.boolean().optional(),
  }),
  async handle({ sessionId, before, limit, full = false }, { agent, connection }): Promise<LogPage> {
    const { entries, epoch } = await readBack(agent.runtime, connection.principal, sessionId, { before, limit });
    const page = full ? newestWithin(MAX_BYTES, entries) : entries;
    const first = page[0]?.event.seq ?? 0;
    return { events: page.map((entry) => loggedEvent(entry, full)), before: first > 0 ? first : null, epoch };
  },
});

/** The newest entries that are not more than this together; one, whatever it is, or there would be no way past it. */
function newestWithin(bytes: number, entries: readonly Entry[]): Entry[] {
  let room = bytes;
  const tooMuch = entries.findLastIndex(({ size }) => {
    room -= size;
    return room < 0;
  });
  return entries.slice(Math.min(tooMuch + 1, entries.length - 1));
}

function loggedEvent({ event, chk, size }: Entry, full: boolean): LoggedEvent {
  const { seq, id, type, ts, data } = event;
  const by = event.type === 'session_created' ? event.data.owner : 'by' in data ? data.by : undefined;
  return {
    seq,
    id,
    type,
    ts,
    size,
    chk,
    ...(by === undefined ? {} : { by }),
    ...('turnId' in data ? { turnId: data.turnId } : {}),
    // One that is larger than a whole page is only named.
    ...(full && size <= MAX_BYTES ? { event } : {}),
  };
}
