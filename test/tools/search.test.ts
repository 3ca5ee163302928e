/** grep and glob, with the real ripgrep on real files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorOf, openWorkspace } from './support.ts';

const files = {
  'b.ts': 'const needle = 1;\n',
  'a/deep.ts': 'x\nneedle\nNEEDLE\n',
  'a/other.md': 'needle\n',
  '.hidden/c.ts': 'needle\n',
  '.git/config': 'needle\n',
  '.gitignore': 'ignored/\n',
  'ignored/d.ts': 'needle\n',
  '-dash.ts': 'needle\n',
};

test('[TOOL16] grep finds lines in the order of paths', async () => {
  await using workspace = await openWorkspace(files);
  const grep = async (args: object) => (await workspace.run('grep', { pattern: 'needle', ...args })).output;
  assert.equal(
    await grep({}),
    '-dash.ts:1:needle\n.hidden/c.ts:1:needle\na/deep.ts:2:needle\na/other.md:1:needle\nb.ts:1:const needle = 1;',
  );
  assert.equal(await grep({ path: 'a', glob: '*.ts', ignore_case: true }), 'a/deep.ts:2:needle\na/deep.ts:3:NEEDLE');
  assert.equal(await grep({ path: 'a/other.md' }), 'a/other.md:1:needle');
  assert.equal(await grep({ path: '-dash.ts' }), '-dash.ts:1:needle');
  assert.equal(await grep({ pattern: '^needle$', path: 'b.ts' }), 'no matches');
  assert.equal(await grep({ pattern: '--files' }), 'no matches');
});

test('[TOOL16] grep stops at its limit and says so', async () => {
  await using workspace = await openWorkspace({
    'a.txt': 'needle\n'.repeat(50),
    'b.txt': `${'needle'.repeat(1000)}\n`,
  });
  const { output } = await workspace.run('grep', { pattern: 'needle', limit: 2 });
  assert.equal(output, 'a.txt:1:needle\na.txt:2:needle\n[truncated: showing the first 2; narrow the search]');
  const long = await workspace.run('grep', { pattern: 'needle', path: 'b.txt' });
  assert.ok(long.output.length < 400, 'a long line is cut');
});

test('[TOOL16] a bad pattern is the fault of the arguments, also in a dry run', async () => {
  await using workspace = await openWorkspace(files);
  const bad: [string, object, RegExp][] = [
    ['grep', { pattern: '(a' }, /^bad pattern: unclosed group$/],
    ['grep', { pattern: 'a\nb' }, /^bad pattern: the literal/],
    ['grep', { pattern: 'a', glob: '{a' }, /^bad pattern: error parsing glob/],
    ['glob', { pattern: '[' }, /^bad pattern: error parsing glob/],
  ];
  for (const [tool, args, message] of bad) {
    for (const error of [
      await errorOf(workspace.run(tool, { ...args })),
      await errorOf(workspace.dryRun(tool, { ...args })),
    ]) {
      assert.equal(error.code, 'invalid_args');
      assert.match(error.message, message);
    }
  }
  assert.equal((await errorOf(workspace.run('grep', { pattern: 'a', path: 'none' }))).code, 'not_found');
  assert.equal((await errorOf(workspace.run('glob', { pattern: 'a', path: 'none' }))).code, 'not_found');
});

test('[TOOL16] glob names files in order, without what git ignores', async () => {
  await using workspace = await openWorkspace(files);
  const glob = async (pattern: string, path?: string) =>
    (await workspace.run('glob', path === undefined ? { pattern } : { pattern, path })).output.split('\n');
  assert.deepEqual(await glob('*.ts'), ['-dash.ts', '.hidden/c.ts', 'a/deep.ts', 'b.ts']);
  assert.deepEqual(await glob('a/**'), ['a/deep.ts', 'a/other.md']);
  assert.deepEqual(await glob('*.{md,rs}'), ['a/other.md']);
  assert.deepEqual(await glob('*.ts', 'a'), ['a/deep.ts']);
  assert.deepEqual(await glob('*.py'), ['no files']);
  for (const everything of ['*', '**', '**/*']) {
    assert.deepEqual(await glob(everything), [
      '-dash.ts',
      '.gitignore',
      '.hidden/c.ts',
      'a/deep.ts',
      'a/other.md',
      'b.ts',
    ]);
  }
});
