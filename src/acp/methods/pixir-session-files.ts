/** `_pixir/session/files`: the files of the workspace that a few letters can mean. It names files and reads none. */
import * as z from 'zod';
import { findFiles } from '../../core/files.ts';
import { fileUri } from '../content.ts';
import { defineMethod, sessionIdSchema } from '../method.ts';

const MAX_FILES = 50;
const MAX_QUERY = 256;

export const files = defineMethod({
  name: '_pixir/session/files',
  kind: 'request',
  params: z.object({
    sessionId: sessionIdSchema,
    query: z.string().max(MAX_QUERY),
    limit: z.number().int().min(1).max(MAX_FILES),
  }),
  async handle(query, { agent, connection, signal }) {
    const { workspace, paths } = await findFiles(agent.runtime, connection.principal, query, signal);
    const directory = workspace.replace(/\/$/, '');
    return { files: paths.map((path) => ({ path, uri: fileUri(`${directory}/${path}`) })) };
  },
});
