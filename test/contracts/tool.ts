/**
 * What every tool of the table keeps to, whatever it does. A tool without a fixture fails, so a new tool cannot forget
 * to be tested here.
 */
import assert from 'node:assert/strict';
import { isAbsolute } from 'node:path';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { TOOL_KINDS } from '../../src/core/event.ts';
import type { Tool, ToolContext } from '../../src/core/tool.ts';

type Args = Record<string, unknown>;

export interface ToolFixture {
  /** Arguments that work in a fresh workspace. */
  args: Args;
  /** Arguments that reach outside the workspace, for a tool that takes a path. */
  outside?: Args;
  /** Arguments whose output would be longer than any budget, for a tool that shows what it finds. */
  huge?: Args;
}

export interface ToolWorkspace extends AsyncDisposable {
  context(signal?: AbortSignal): ToolContext;
  /** Every entry with its content and mode. */
  snapshot(): Promise<unknown>;
}

const MAX_OUTPUT_BYTES = 17_000;
const EFFECTS = ['read', 'write', 'execute', 'network'];
/** What may not appear in a line that a person trusts: line breaks, control characters, direction marks. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** A `huge` workspace holds what the `huge` arguments need; the other one what the rest needs. */
type OpenWorkspace = (size: 'small' | 'huge') => Promise<ToolWorkspace>;

export function testTools(
  tools: readonly Tool[],
  fixtures: Readonly<Record<string, ToolFixture>>,
  openWorkspace: OpenWorkspace,
): void {
  test('[TOOL1] every tool has a name of its own and a fixture', () => {
    assert.deepEqual(tools.map(({ name }) => name).sort(), Object.keys(fixtures).sort());
  });

  test('[TOOL3] what the model is told of all tools is lean', () => {
    const specs = tools
      .filter(({ needs }) => needs === undefined)
      .map(({ name, description, schema }) => {
        const { $schema, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
        return { name, description, parameters };
      });
    assert.ok(JSON.stringify(specs).length < 4_350, `${JSON.stringify(specs).length} characters`);
  });

  for (const tool of tools) {
    const fixture = fixtures[tool.name];
    if (fixture) describe(`tool ${tool.name}`, () => testTool(tool, fixture, openWorkspace));
  }
}

function testTool(tool: Tool, { args, outside, huge }: ToolFixture, openWorkspace: OpenWorkspace): void {
  const parse = (given: Args) => tool.schema.parse(given);

  test('[TOOL1] declares what others need to know of it', async () => {
    await using workspace = await openWorkspace('small');
    const roots = workspace.context();
    const { workspace: directory } = roots;
    assert.match(tool.name, /^[a-z][a-z_]*$/);
    assert.ok(tool.description.length > 0);
    assert.ok(TOOL_KINDS.includes(tool.kind));
    assert.ok(EFFECTS.includes(tool.effect(parse(args))));
    for (const { path } of tool.locations?.(parse(args), roots) ?? []) {
      assert.ok(isAbsolute(path) && path.startsWith(directory));
    }
    assert.deepEqual(tool.locations?.(parse(outside ?? args), roots).filter(isOutside(directory)) ?? [], []);
  });

  test('[TOOL2] its schema is strict and can be sent to a model', () => {
    const sent = z.toJSONSchema(tool.schema, { io: 'input' });
    assert.equal(sent.type, 'object');
    assert.equal(sent.additionalProperties, false);
    assert.ok(tool.schema.safeParse(args).success);
    assert.ok(!tool.schema.safeParse({ ...args, surprise: 1 }).success);
    for (const name of sent.required ?? []) {
      assert.ok(!tool.schema.safeParse({ ...args, [name]: undefined }).success, `without ${name}`);
    }
    for (const name of Object.keys(args)) {
      assert.ok(!tool.schema.safeParse({ ...args, [name]: new Date() }).success, `wrong type of ${name}`);
    }
  });

  test('[TOOL4] its title is one line that hides nothing', () => {
    const entries = Object.entries(args).map(([name, value]) => [
      name,
      typeof value === 'string' ? `${value} a\nb\r\u202ec\u0000\u2028${'d'.repeat(500)}` : value,
    ]);
    for (const given of [args, Object.fromEntries(entries)]) {
      const title = tool.title(parse(given));
      assert.ok(title.startsWith(tool.name) && title.length <= 200 && !UNSEEN.test(title), JSON.stringify(title));
    }
  });

  test('[TOOL5] a dry run says what it would do and leaves the workspace byte-identical', async () => {
    await using workspace = await openWorkspace('small');
    const before = await workspace.snapshot();
    const result = await tool.dryRun(parse(args), workspace.context());
    assert.ok(result.ok && /^would /.test(result.output), result.output);
    assert.equal(result.diffs, undefined);
    assert.deepEqual(await workspace.snapshot(), before);
  });

  test('[TOOL6] an aborted call is cancelled before it does anything', async () => {
    await using workspace = await openWorkspace('small');
    const before = await workspace.snapshot();
    const context = workspace.context(AbortSignal.abort());
    await assert.rejects(tool.run(parse(args), context), { code: 'cancelled' });
    await assert.rejects(tool.dryRun(parse(args), context), { code: 'cancelled' });
    assert.deepEqual(await workspace.snapshot(), before);
  });

  test('[TOOL7] it runs, and its output is bounded', async () => {
    await using workspace = await openWorkspace('small');
    const result = await tool.run(parse(args), workspace.context());
    assert.ok(result.ok && Buffer.byteLength(result.output) <= MAX_OUTPUT_BYTES);
    if (!huge) return;
    await using large = await openWorkspace('huge');
    const { output } = await tool.run(parse(huge), large.context());
    assert.ok(Buffer.byteLength(output) <= MAX_OUTPUT_BYTES, `${Buffer.byteLength(output)} bytes`);
    assert.match(output, /\[truncated: |bytes omitted\]/);
  });

  if (outside) {
    test('[TOOL8] it reaches nothing outside the workspace, not even in a dry run', async () => {
      await using workspace = await openWorkspace('small');
      const before = await workspace.snapshot();
      await assert.rejects(tool.run(parse(outside), workspace.context()), { code: 'outside_workspace' });
      await assert.rejects(tool.dryRun(parse(outside), workspace.context()), { code: 'outside_workspace' });
      assert.deepEqual(await workspace.snapshot(), before);
    });
  }
}

function isOutside(directory: string) {
  return ({ path }: { path: string }) => path !== directory && !path.startsWith(`${directory}/`);
}
