/**
 * `apply_patch`: changes several files with one patch, all of them or none. No file is touched before every hunk has
 * found its place and every new content is on disk.
 */
import * as z from 'zod';
import { CoreError } from '../core/errors.ts';
import type { FileDiff } from '../core/event.ts';
import { defineTool } from '../core/tool.ts';
import { applyHunks, type FileChange, parsePatch, patchPaths } from './patch-format.ts';
import { oneLine } from './presentation.ts';
import {
  diffOf,
  type FileContext,
  readText,
  type StagedChange,
  stageRemoval,
  stageText,
  textBefore,
} from './text-file.ts';
import { checkAborted, isSymlink, locate, resolveWritable, type WriteTarget } from './workspace.ts';

export const applyPatch = defineTool({
  name: 'apply_patch',
  description: `Change files with a patch: all of it or nothing.
*** Begin Patch
*** Update File: a.py
*** Move to: b.py
@@ def nearest_line_above():
 context
-old
+new
*** Add File: c.py
+line
*** Delete File: d.py
*** End Patch
Move, @@ and sections are optional. Give 3 lines of context; no line numbers.`,
  kind: 'edit',
  effect: () => 'write',
  schema: z.strictObject({ patch: z.string().min(1) }),
  title({ patch }) {
    const [first, ...others] = patchPaths(patch);
    return oneLine(['apply_patch', first, others.length > 0 ? `and ${others.length} more` : ''].join(' ').trim());
  },
  locations: ({ patch }, roots) => patchPaths(patch).flatMap((path) => locate(roots, path)),
  async run({ patch }, context) {
    checkAborted(context.signal);
    const files = await plan(context, parsePatch(patch));
    checkAborted(context.signal);
    await commit(context, files);
    const diffs = files.flatMap(({ target, before, after }): FileDiff[] => diffOf(target.path, before, after ?? ''));
    return { ok: true, output: `applied the patch:\n${summary(files)}`, diffs };
  },
  async dryRun({ patch }, context) {
    checkAborted(context.signal);
    return { ok: true, output: `would apply the patch:\n${summary(await plan(context, parsePatch(patch)))}` };
  },
});

/** One file before and after the patch: null where there is none, undefined where it cannot be shown as text. */
interface PlannedFile {
  target: WriteTarget;
  before: string | null | undefined;
  after: string | null | undefined;
  mode: number | undefined;
}

/** What the patch makes of each file. Only reads; each section sees what the earlier ones made. */
async function plan(context: FileContext, changes: readonly FileChange[]): Promise<PlannedFile[]> {
  const files = new Map<string, PlannedFile>();
  for (const change of changes) {
    const file = await look(context, files, change.path, change.type === 'update');
    if (change.type === 'add') {
      if (file.after !== null) throw failed(change.path, 'already exists');
      file.after = change.text;
      continue;
    }
    if (file.after === null) throw new CoreError('not_found', `${oneLine(change.path)} does not exist`);
    const text = change.type === 'delete' ? null : applyHunks(change.path, file.after ?? '', change.hunks);
    if (change.type === 'update' && change.moveTo === undefined) {
      file.after = text;
      continue;
    }
    // Removing through a symlink would remove what it points to.
    if (await isSymlink(context, change.path)) throw failed(change.path, 'is a symbolic link');
    file.after = null;
    if (change.type === 'delete' || change.moveTo === undefined) continue;
    const destination = await look(context, files, change.moveTo, false);
    if (destination.after !== null) throw failed(change.moveTo, 'already exists');
    destination.after = text;
    destination.mode = file.mode;
  }
  return [...files.values()].filter(({ before, after }) => before !== after);
}

async function look(context: FileContext, files: Map<string, PlannedFile>, path: string, asText: boolean) {
  const target = await resolveWritable(context, path);
  const known = files.get(target.path);
  if (known) return known;
  const existing = asText && target.existing ? (await readText(context, path)).text : undefined;
  const before = existing ?? (await textBefore(context, target));
  const file: PlannedFile = { target, before, after: before, mode: target.existing?.mode };
  files.set(target.path, file);
  return file;
}

/**
 * Writes everything beside its target first; then only the last steps and, at the very end, removals are left. Once one
 * file is changed, so are all.
 */
async function commit(context: FileContext, files: readonly PlannedFile[]): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const writes: StagedChange[] = [];
  const removals: StagedChange[] = [];
  for (const { target, after, mode } of files) {
    if (typeof after === 'string') writes.push(stack.use(await stageText(context, target, after, mode)));
    else removals.push(stack.use(await stageRemoval(context, target)));
  }
  for (const [index, change] of [...writes, ...removals].entries()) await change.commit(index > 0);
}

function summary(files: readonly PlannedFile[]): string {
  const line = ({ target, before, after }: PlannedFile) => {
    if (after === null) return `D ${target.name}`;
    return `${before === null ? 'A' : 'M'} ${target.name}`;
  };
  return files.map(line).join('\n');
}

function failed(path: string, reason: string): CoreError {
  return new CoreError('patch_failed', `${oneLine(path)} ${reason}`, { path });
}
