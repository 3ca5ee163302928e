/** `_pixir/sessions/unwatch`: the client hears no more of the list of Sessions. What is not watched is let go of already. */
import * as z from 'zod';
import { defineMethod } from '../method.ts';

export const sessionsUnwatch = defineMethod({
  name: '_pixir/sessions/unwatch',
  kind: 'request',
  params: z.object({}),
  handle(_params, { connection }): Record<string, never> {
    connection.listWatch.end();
    return {};
  },
});
