import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { REPOSITORY } from './support/processes.ts';

const CASES: Record<string, number> = { J: 19, A: 33, B: 30, T: 26, S: 26, U: 28, P: 21, X: 12, O: 12 };

const spec = await readFile(join(REPOSITORY, 'SPEC.md'), 'utf8');
const rules = [...spec.matchAll(/^- \*\*([A-Z]+\d+)\*\* /gm)].map(([, id = '']) => id);
const replaced = spec.slice(spec.indexOf('## Cases of the original contract'));

/** Every id in square brackets inside the name of a test. */
async function citations(): Promise<Set<string>> {
  const cited = new Set<string>();
  for await (const file of glob('test/**/*.ts', { cwd: REPOSITORY })) {
    const text = await readFile(join(REPOSITORY, file), 'utf8');
    for (const [name] of text.matchAll(/['"`](?:\[[A-Z]+\d+\] )+/g)) {
      for (const [, id = ''] of name.matchAll(/\[([A-Z]+\d+)\]/g)) cited.add(id);
    }
  }
  return cited;
}

const cases = Object.entries(CASES).flatMap(([letter, count]) =>
  Array.from({ length: count }, (_, n) => `${letter}${String(n + 1).padStart(2, '0')}`),
);

test('every rule has a test, and every citation names a rule or a case', async () => {
  const cited = await citations();
  assert.equal(new Set(rules).size, rules.length, 'a rule is listed once');
  assert.deepEqual(
    rules.filter((rule) => !cited.has(rule)),
    [],
    'rules without a test',
  );
  const known = new Set([...rules, ...cases]);
  assert.deepEqual(
    [...cited].filter((id) => !known.has(id)),
    [],
    'citations of nothing',
  );
});

test('every case of the original contract has a test or a line that says what became of it', async () => {
  const cited = await citations();
  const open = cases.filter((id) => !cited.has(id) && !new RegExp(`\\b${id}\\b`).test(replaced));
  assert.deepEqual(open, []);
});
