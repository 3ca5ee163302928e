/** update_plan: what it accepts and how it tidies it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planEntrySchema } from '../../src/core/event.ts';
import { openWorkspace, toolNamed } from './support.ts';

test('[T17] unknown words become the defaults and a blank step gets a name', async () => {
  await using workspace = await openWorkspace();
  const entries = [
    { content: ' Look ', priority: 'high', status: 'completed' },
    { content: '  ', priority: 'URGENT', status: 'bogus' },
    { content: 'x'.repeat(900) },
  ];
  const { output, plan } = await workspace.run('update_plan', { entries });
  assert.equal(output, 'Recorded a plan with 3 step(s).');
  assert.deepEqual(plan, [
    { content: 'Look', priority: 'high', status: 'completed' },
    { content: '(untitled step)', priority: 'medium', status: 'pending' },
    { content: 'x'.repeat(500), priority: 'medium', status: 'pending' },
  ]);
  for (const entry of plan ?? []) assert.deepEqual(planEntrySchema.parse(entry), entry);
  assert.deepEqual((await workspace.run('update_plan', { entries: [] })).plan, []);
  assert.equal((await workspace.dryRun('update_plan', { entries })).plan, undefined);
});

test('[O07] entries that are not objects are refused', () => {
  const { schema } = toolNamed('update_plan');
  for (const entries of [undefined, null, 'step', {}, ['step'], [1], [null], [[]], [{}], [{ content: 1 }]]) {
    assert.ok(!schema.safeParse({ entries }).success, JSON.stringify(entries));
  }
});
