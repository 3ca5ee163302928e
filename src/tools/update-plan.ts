/** `update_plan`: hands the complete plan to the runtime. It only tidies what it was given, and stores nothing. */
import * as z from 'zod';
import { type PlanEntry, planEntrySchema } from '../core/event.ts';
import { defineTool } from '../core/tool.ts';
import { firstBytes } from './bounded.ts';
import { checkAborted } from './workspace.ts';

const MAX_STEP_BYTES = 500;

const entrySchema = z.object({
  content: z.string(),
  // A word the model made up is no reason to lose the plan.
  priority: planEntrySchema.shape.priority.catch('medium'),
  status: planEntrySchema.shape.status.catch('pending'),
});

export const updatePlan = defineTool({
  name: 'update_plan',
  description: 'Show the user your plan and progress. Keep one step in_progress.',
  kind: 'think',
  effect: () => 'read',
  schema: z.strictObject({
    entries: z.array(entrySchema).max(100).describe('All steps, in order; replaces the earlier plan'),
  }),
  title: () => 'update_plan',
  async run({ entries }, { signal }) {
    checkAborted(signal);
    return { ok: true, output: `Recorded a plan with ${entries.length} step(s).`, plan: entries.map(tidy) };
  },
  async dryRun({ entries }, { signal }) {
    checkAborted(signal);
    return { ok: true, output: `would record a plan with ${entries.length} step(s)` };
  },
});

function tidy(entry: PlanEntry): PlanEntry {
  return { ...entry, content: firstBytes(entry.content.trim(), MAX_STEP_BYTES) || '(untitled step)' };
}
