/**
 * `session/delete`: stops the Session's Turn and removes everything recorded of it, for everybody and for ever. A Session
 * that is not there is deleted already.
 */
import * as z from 'zod';
import { remove } from '../../core/lifecycle.ts';
import { assertMay } from '../../core/principal.ts';
import { onlyObserving } from '../errors.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';
import { cancelPrompts, unlessUnknown } from '../open-prompts.ts';

export const sessionDelete = defineMethod({
  name: 'session/delete',
  kind: 'request',
  params: z.object({ sessionId: sessionIdSchema }),
  async handle({ sessionId }, { agent: { runtime }, connection }): Promise<Record<string, never>> {
    assertMay(connection.principal, 'prompt');
    if (await connection.feeds.observes(sessionId)) throw onlyObserving();
    const answered = cancelPrompts(connection, sessionId);
    await unlessUnknown(remove(runtime, connection.principal, sessionId));
    await answered;
    return {};
  },
});
