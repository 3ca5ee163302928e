/** `edit`: replaces one exact piece of a file. It never guesses which of several places was meant. */
import * as z from 'zod';
import { CoreError } from '../core/errors.ts';
import { defineTool } from '../core/tool.ts';
import { oneLine, onFile, pathTitle } from './presentation.ts';
import { diffOf, type FileContext, readText, replaceText } from './text-file.ts';
import { checkAborted, locate, resolveWritable, type WriteTarget } from './workspace.ts';

const schema = z.strictObject({
  path: z.string().min(1).describe('Path in the workspace'),
  old_string: z.string().min(1).describe('Exact text to replace; unique in the file unless replace_all'),
  new_string: z.string().describe('Text to put in its place'),
  replace_all: z.boolean().optional().describe('Replace every occurrence'),
});

export const edit = defineTool({
  name: 'edit',
  description: 'Replace exact text in a file.',
  kind: 'edit',
  effect: () => 'write',
  schema,
  title: ({ path }) => pathTitle('edit', path),
  rule: onFile,
  locations: ({ path }, roots) => locate(roots, path),
  async run(args, context) {
    checkAborted(context.signal);
    const { target, before, after, count } = await replacement(args, context);
    checkAborted(context.signal);
    await replaceText(context, target, after);
    const output = `replaced ${count} ${count === 1 ? 'occurrence' : 'occurrences'} in ${args.path}`;
    return { ok: true, output, diffs: diffOf(target.path, before, after) };
  },
  async dryRun(args, context) {
    checkAborted(context.signal);
    const { count } = await replacement(args, context);
    return { ok: true, output: `would replace ${count} ${count === 1 ? 'occurrence' : 'occurrences'} in ${args.path}` };
  },
});

interface Replacement {
  target: WriteTarget;
  before: string;
  after: string;
  count: number;
}

/** Works out the change and makes none. */
async function replacement(args: z.infer<typeof schema>, context: FileContext): Promise<Replacement> {
  const { path, old_string, new_string, replace_all } = args;
  const target = await resolveWritable(context, path);
  const { text: before } = await readText(context, path);
  const pieces = before.split(old_string);
  const count = pieces.length - 1;
  if (count === 0) throw noMatch(path, old_string, before);
  if (count > 1 && !replace_all) {
    const message = `old_string occurs ${count} times in ${oneLine(path)}; add surrounding lines or set replace_all`;
    throw new CoreError('not_unique', message, { path, occurrences: count });
  }
  return { target, before, after: pieces.join(new_string), count };
}

function noMatch(path: string, wanted: string, text: string): CoreError {
  const hint = text.includes('\r\n') && /(^|[^\r])\n/.test(wanted) ? '; its lines end in CRLF' : '';
  return new CoreError('no_match', `old_string is not in ${oneLine(path)}${hint}`, { path });
}
