/** `_pixir/sessions/watch`: from now on the client is told which lines of the list of Sessions may have changed. */
import * as z from 'zod';
import { defineMethod } from '../method.ts';

export const sessionsWatch = defineMethod({
  name: '_pixir/sessions/watch',
  kind: 'request',
  params: z.object({}),
  handle(_params, { connection }): Record<string, never> {
    connection.listWatch.begin();
    return {};
  },
});
