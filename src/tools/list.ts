/** `list`: names what is in one directory. It does not look into what it names. */
import { readdir } from 'node:fs/promises';
import * as z from 'zod';
import { defineTool, type ToolContext } from '../core/tool.ts';
import { boundLines } from './bounded.ts';
import { pathTitle } from './presentation.ts';
import { checkAborted, failure, locate, openDirectory } from './workspace.ts';

const LIMIT = 500;

export const list = defineTool({
  name: 'list',
  description: 'List a directory; directories end in /.',
  kind: 'read',
  effect: () => 'read',
  schema: z.strictObject({
    path: z.string().min(1).optional().describe('Directory; the workspace by default'),
  }),
  title: ({ path }) => pathTitle('list', path ?? '.'),
  locations: ({ path }, roots) => locate(roots, path ?? '.'),
  async run({ path }, context) {
    const names = await entries(path ?? '.', context);
    return { ok: true, output: boundLines(names, LIMIT, `${names.length} in all; use glob`) };
  },
  async dryRun({ path }, context) {
    const names = await entries(path ?? '.', context);
    return { ok: true, output: `would list ${names.length} entries of ${path ?? '.'}` };
  },
});

async function entries(path: string, context: ToolContext): Promise<string[]> {
  checkAborted(context.signal);
  await using directory = await openDirectory(context, path);
  const found = await readdir(directory.at, { withFileTypes: true }).catch((cause) => {
    throw failure('read_failed', 'cannot list', path, cause);
  });
  return found.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
}
