import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { MUTANTS } from './mutants.ts';
import { REPOSITORY } from './support/processes.ts';

test('[MUT1] every mutant still fits the source, changes it, and names a rule that its tests have', async () => {
  assert.ok(MUTANTS.length >= 15);
  assert.equal(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length);
  const rules = await readFile(join(REPOSITORY, 'SPEC.md'), 'utf8');
  for (const { name, file, find, replace, rule, tests } of MUTANTS) {
    const source = await readFile(join(REPOSITORY, file), 'utf8');
    assert.equal(source.split(find).length, 2, `${name}: its text occurs exactly once`);
    assert.notEqual(find, replace);
    assert.match(rules, new RegExp(`^- \\*\\*${rule}\\*\\* `, 'm'), name);
    await readFile(join(REPOSITORY, tests), 'utf8');
  }
});
