/** Small tools for tests of the runtime: one for each way in which a call can go. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CoreError } from '../../src/core/errors.ts';
import { defineTool, type Effect, type Tool, type ToolResult } from '../../src/core/tool.ts';

interface Behaviour {
  effect?: Effect;
  run(args: { text: string }, context: Parameters<Tool['run']>[1]): Promise<ToolResult>;
}

function testTool(name: string, { effect = 'read', run }: Behaviour): Tool {
  return defineTool({
    name,
    description: `Test tool ${name}.`,
    kind: effect === 'read' ? 'read' : 'edit',
    schema: z.strictObject({ text: z.string().default('') }),
    effect: () => effect,
    title: ({ text }) => `${name} ${text}`.trim(),
    run,
    dryRun: async ({ text }) => ({ ok: true, output: `would ${name} ${text}` }),
  });
}

export const note = testTool('note', { run: async ({ text }) => ({ ok: true, output: `noted ${text}` }) });

/** Leaves a file behind, so that a test can see whether it ran. */
export const poke = testTool('poke', {
  effect: 'write',
  async run({ text }, { workspace }) {
    await writeFile(join(workspace, 'poked'), text, { flag: 'a' });
    return { ok: true, output: 'poked' };
  },
});

export const boom = testTool('boom', {
  run: async () => {
    throw new CoreError('not_found', 'no such thing', { path: 'x' });
  },
});

export const defect = testTool('defect', {
  run: async () => {
    throw new TypeError('secret internals');
  },
});

/** Shows output and then waits to be aborted. */
export const hang = testTool('hang', {
  run: (_args, { signal, progress }) =>
    new Promise((_resolve, reject) => {
      progress('still going');
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
});

export const planner = testTool('planner', {
  async run({ text }) {
    const entries = [{ content: text, priority: 'high' as const, status: 'pending' as const }];
    return { ok: true, output: 'planned', plan: entries };
  },
});

export const TEST_TOOLS = [note, poke, boom, defect, hang, planner];
