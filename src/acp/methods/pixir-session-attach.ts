/**
 * `_pixir/session/attach`: a pure subscription from a cursor. It answers first; then come the missed updates, the rest of
 * the live item, `caught_up` once, the pending permissions, and what happens from then on.
 */
import * as z from 'zod';
import { encodeCursor, type Start, startAt } from '../cursor.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';
import { offerCommands } from '../session-setup.ts';
import type { AttachResult } from '../wire.ts';

export const attach = defineMethod({
  name: '_pixir/session/attach',
  kind: 'request',
  params: z.object({
    sessionId: sessionIdSchema,
    cursor: z.string().max(1_024).optional(),
    role: z.enum(['controller', 'observer']).default('controller'),
  }),
  async handle({ sessionId, cursor, role }, context): Promise<AttachResult> {
    const { connection, afterAnswer } = context;
    const begun = Promise.withResolvers<Start>();
    const feed = await connection.feeds.attach(sessionId, async (session) => {
      const start = await startAt(session, cursor);
      begun.resolve(start);
      return { position: start.position, options: { cursors: true, announce: true, role } };
    });
    await offerCommands(feed, context);
    afterAnswer(() => feed.start());
    const start = await begun.promise;
    const { tail, state } = feed.session;
    const promptKey = state.turn?.promptKey;
    return {
      mode: start.mode,
      ...(start.mode === 'reset' ? { reason: start.reason } : {}),
      head: encodeCursor(tail.epoch, tail),
      state: state.turn ? 'running' : 'idle',
      ...(state.turn ? { turn: { turnId: state.turn.turnId, ...(promptKey ? { promptKey } : {}) } } : {}),
      role: feed.options.role,
    };
  },
});
