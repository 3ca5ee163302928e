/** `_pixir/directories`: what there is to choose a workspace from. It opens nothing but directories. */
import * as z from 'zod';
import { listDirectories } from '../../core/directories.ts';
import { cwdSchema, defineMethod } from '../method.ts';

export const directories = defineMethod({
  name: '_pixir/directories',
  kind: 'request',
  params: z.object({ path: cwdSchema.optional() }),
  handle({ path }, { agent, connection, signal }) {
    return listDirectories(agent.runtime, connection.principal, path, signal);
  },
});
