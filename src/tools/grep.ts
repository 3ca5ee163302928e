/** `grep`: finds lines by regular expression. It searches what git would track, and nothing outside the roots of the Session. */
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import type { Roots } from '../core/roots.ts';
import { defineTool, type Tool } from '../core/tool.ts';
import { boundLines } from './bounded.ts';
import { shortTitle } from './presentation.ts';
import { globOptions, ripgrep } from './ripgrep.ts';
import { checkAborted, locate, openDirectory, openInside, shown } from './workspace.ts';

const DEFAULT_LIMIT = 100;
const FORMAT = ['--line-number', '--with-filename', '--no-heading', '--max-columns=300', '--max-columns-preview'];

const schema = z.strictObject({
  pattern: z.string().min(1).describe('Regular expression (Rust syntax)'),
  path: z.string().min(1).optional().describe('File or directory; the workspace by default'),
  glob: z.string().min(1).optional().describe('Only files like this, e.g. *.ts'),
  ignore_case: z.boolean().optional(),
  limit: z.int().min(1).max(1000).optional().describe('Most lines; 100 by default'),
});

/** @param hidden absolute real paths that are never searched. */
export function createGrep(hidden: readonly string[]): Tool {
  return defineTool({
    name: 'grep',
    description: 'Search file contents. Skips files ignored by git. Prints path:line:text.',
    kind: 'search',
    effect: () => 'read',
    schema,
    title: ({ pattern }) => shortTitle('grep', pattern),
    locations: ({ path }, roots) => (path === undefined ? [] : locate(roots, path)),
    async run(args, context) {
      const { signal } = context;
      checkAborted(signal);
      const place = await searchPlace(context, args.path ?? '.');
      await using directory = await openDirectory(context, place.directory);
      const limit = args.limit ?? DEFAULT_LIMIT;
      const found = await ripgrep(
        [...FORMAT, ...query(args, directory.path, hidden), place.name],
        directory.at,
        limit,
        {
          signal,
        },
      );
      const prefix = shown(context, directory.path);
      const lines = found.map((line) => (prefix === '.' ? line : join(prefix, '/').concat(line)));
      return { ok: true, output: boundLines(lines, limit, 'narrow the search') || 'no matches' };
    },
    async dryRun(args, context) {
      const { signal } = context;
      checkAborted(signal);
      const { directory } = await searchPlace(context, args.path ?? '.');
      // Searching nothing checks the pattern.
      await ripgrep([...query(args, directory, hidden), '/dev/null'], '/', 1, { signal });
      return { ok: true, output: `would search ${args.path ?? '.'} for ${args.pattern}` };
    },
  });
}

function query(
  { pattern, glob, ignore_case }: z.infer<typeof schema>,
  directory: string,
  hidden: readonly string[],
): string[] {
  return [
    ...globOptions(glob, directory, hidden),
    ...(ignore_case ? ['--ignore-case'] : []),
    `--regexp=${pattern}`,
    '--',
  ];
}

/** Where to search: a directory, or one file as seen from its directory. */
async function searchPlace(roots: Roots, path: string): Promise<{ directory: string; name: string }> {
  const { handle, path: real, stats } = await openInside(roots, path);
  await handle.close();
  return stats.isDirectory()
    ? { directory: real, name: './' }
    : { directory: dirname(real), name: `./${basename(real)}` };
}
