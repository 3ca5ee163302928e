/** Which path a few letters mean. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rank } from '../../src/core/fuzzy.ts';

const cases: [query: string, better: string, worse: string][] = [
  ['main', 'src/cli/main.ts', 'main/cli/index.ts'],
  ['main', 'src/main.ts', 'src/domain.ts'],
  ['main', 'src/main.ts', 'src/main-domain.ts'],
  ['main', 'src/main-domain.ts', 'src/domain.ts'],
  ['fn', 'src/fileName.ts', 'src/often.ts'],
  ['fn', 'src/file-name.ts', 'src/often.ts'],
  ['sdk', 'src/dir/k.ts', 'src/xdxk.ts'],
  ['app', 'web/app.ts', 'web/a-p-p.ts'],
  ['src/m', 'src/main.ts', 'test/src/cli/long-main.ts'],
  ['README', 'readme.md', 'docs/readme.md'],
  ['', 'a.ts', 'b.tsx'],
];

for (const [query, better, worse] of cases)
  test(`[FILES1] "${query}" means ${better} rather than ${worse}`, () => {
    assert.deepEqual(rank(query, [worse, better], 9), [better, worse]);
  });

const path = fc
  .array(fc.string({ unit: fc.constantFrom('a', 'b', 'B', '-', 'ä', '\ud83d'), minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((segments) => segments.join('/'));

test('[FILES1] exactly the paths that hold the letters in their order, and the best of parts are the best of all', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(path, { maxLength: 12 }),
      fc.string({ unit: fc.constantFrom('a', 'b', '/') }),
      (paths, query) => {
        const holds = new RegExp([...query].join('.*'), 'is');
        const all = rank(query, paths, 100);
        assert.deepEqual([...all].sort(), paths.filter((each) => holds.test(each)).sort());
        const half = rank(query, paths.slice(0, 6), 3);
        assert.deepEqual(rank(query, [...half, ...paths.slice(6)], 3), all.slice(0, 3));
      },
    ),
  );
});

test('[FILES1] a path of any length', () => {
  const long = `${'deep/'.repeat(800)}file.ts`;
  assert.deepEqual(rank('file', [long, 'x'.repeat(5_000)], 5), [long]);
});
