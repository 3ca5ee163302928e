/** `glob`: finds files by the pattern of their path. It names files, and only inside the roots of the Session. */
import { join } from 'node:path';
import * as z from 'zod';
import { defineTool, type Tool } from '../core/tool.ts';
import { boundLines } from './bounded.ts';
import { shortTitle } from './presentation.ts';
import { globOptions, ripgrep } from './ripgrep.ts';
import { checkAborted, locate, openDirectory, shown } from './workspace.ts';

const LIMIT = 500;

/** @param hidden absolute real paths that are never searched. */
export function createGlob(hidden: readonly string[]): Tool {
  return defineTool({
    name: 'glob',
    description: 'Find files by path pattern. Skips files ignored by git.',
    kind: 'search',
    effect: () => 'read',
    schema: z.strictObject({
      pattern: z.string().min(1).describe('e.g. *.ts (any depth), src/**/*.test.ts'),
      path: z.string().min(1).optional().describe('Directory to search; the workspace by default'),
    }),
    title: ({ pattern }) => shortTitle('glob', pattern),
    locations: ({ path }, roots) => (path === undefined ? [] : locate(roots, path)),
    async run({ pattern, path }, context) {
      const { signal } = context;
      checkAborted(signal);
      await using directory = await openDirectory(context, path ?? '.');
      const found = await ripgrep(
        ['--files', ...globOptions(pattern, directory.path, hidden), './'],
        directory.at,
        LIMIT,
        {
          signal,
        },
      );
      const lines = found.map((file) => join(shown(context, directory.path), file));
      return { ok: true, output: boundLines(lines, LIMIT, 'narrow the pattern') || 'no files' };
    },
    async dryRun({ pattern, path }, context) {
      const { signal } = context;
      checkAborted(signal);
      await using directory = await openDirectory(context, path ?? '.');
      // Searching nothing checks the pattern.
      await ripgrep(['--files', ...globOptions(pattern, directory.path, hidden), '/dev/null'], '/', 1, { signal });
      return { ok: true, output: `would look for ${pattern} in ${shown(context, directory.path)}` };
    },
  });
}
