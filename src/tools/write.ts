/** `write`: makes or replaces one whole file. The old content stays until the new one is complete. */
import * as z from 'zod';
import { defineTool } from '../core/tool.ts';
import { onFile, pathTitle } from './presentation.ts';
import { diffOf, replaceText, textBefore } from './text-file.ts';
import { checkAborted, locate, resolveWritable } from './workspace.ts';

export const write = defineTool({
  name: 'write',
  description: 'Create or replace a file. Missing directories are made. To change part of a file use edit.',
  kind: 'edit',
  effect: () => 'write',
  schema: z.strictObject({
    path: z.string().min(1).describe('Path in the workspace'),
    content: z.string().describe('The whole new content'),
  }),
  title: ({ path }) => pathTitle('write', path),
  rule: onFile,
  locations: ({ path }, roots) => locate(roots, path),
  async run({ path, content }, context) {
    checkAborted(context.signal);
    const target = await resolveWritable(context, path);
    const before = await textBefore(context, target);
    checkAborted(context.signal);
    await replaceText(context, target, content);
    const output = `wrote ${Buffer.byteLength(content)} bytes to ${path}`;
    return { ok: true, output, diffs: diffOf(target.path, before, content) };
  },
  async dryRun({ path, content }, context) {
    checkAborted(context.signal);
    const { existing } = await resolveWritable(context, path);
    const how = existing ? 'replacing the file' : 'as a new file';
    return { ok: true, output: `would write ${Buffer.byteLength(content)} bytes to ${path}, ${how}` };
  },
});
