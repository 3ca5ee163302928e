/** `read`: shows a text file, whole or by lines. It never shows a part without saying which. */
import * as z from 'zod';
import { defineTool } from '../core/tool.ts';
import { firstBytes, OUTPUT_BYTES } from './bounded.ts';
import { pathTitle } from './presentation.ts';
import { readText } from './text-file.ts';
import { checkAborted, locate } from './workspace.ts';

export const read = defineTool({
  name: 'read',
  description: 'Read a UTF-8 text file. Long files come in pages.',
  kind: 'read',
  effect: () => 'read',
  schema: z.strictObject({
    path: z.string().min(1).describe('Path in the workspace'),
    offset: z.int().min(0).optional().describe('First line, from 1'),
    limit: z.int().min(1).optional().describe('Number of lines'),
  }),
  title: ({ path }) => pathTitle('read', path),
  locations: ({ path, offset }, roots) => locate(roots, path, offset || undefined),
  async run({ path, offset, limit }, context) {
    checkAborted(context.signal);
    const { text } = await readText(context, path);
    checkAborted(context.signal);
    return { ok: true, output: page(text, Math.max(1, offset ?? 1), limit) };
  },
  async dryRun({ path }, context) {
    checkAborted(context.signal);
    const { text } = await readText(context, path);
    return { ok: true, output: `would read ${path} (${Buffer.byteLength(text)} bytes)` };
  },
});

/** The lines from `first` on that fit, with a marker unless that is the whole text byte for byte. */
function page(text: string, first: number, limit = Number.POSITIVE_INFINITY): string {
  const lines = splitLines(text);
  if (first === 1 && limit >= lines.length && Buffer.byteLength(text) <= OUTPUT_BYTES) return text;
  if (first > lines.length) return `[end of file: it has ${lines.length} lines]`;
  const shown: string[] = [];
  let bytes = 0;
  for (const line of lines.slice(first - 1, first - 1 + limit)) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > OUTPUT_BYTES) break;
    shown.push(line);
  }
  if (shown.length === 0) return cutLine(lines[first - 1] ?? '', first, lines.length);
  const last = first + shown.length - 1;
  const range = `showing lines ${first}-${last} of ${lines.length}`;
  const marker =
    last === lines.length ? `[end of file: ${range}]` : `[truncated: ${range}; continue with offset=${last + 1}]`;
  return `${shown.join('\n')}\n${marker}`;
}

/** A single line that is longer than a page: its rest cannot be read with this tool, so the marker says so. */
function cutLine(line: string, number: number, total: number): string {
  const beginning = firstBytes(line, OUTPUT_BYTES);
  const sizes = `the first ${Buffer.byteLength(beginning)} of ${Buffer.byteLength(line)} bytes of line ${number} of ${total}`;
  const next = number < total ? `; continue with offset=${number + 1}` : '';
  return `${beginning}\n[truncated: showing ${sizes}${next}]`;
}

function splitLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
