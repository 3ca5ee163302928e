/** The patch format, and apply_patch on real files. */
import assert from 'node:assert/strict';
import { chmod, stat, symlink } from 'node:fs/promises';
import { test } from 'node:test';
import { structuredPatch } from 'diff';
import fc from 'fast-check';
import { applyHunks, parsePatch } from '../../src/tools/patch-format.ts';
import { errorOf, openWorkspace } from './support.ts';

const wrap = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

/** The text after a patch that updates one file. */
function patched(text: string, ...lines: string[]): string {
  const [change] = parsePatch(wrap('*** Update File: f', ...lines));
  assert.ok(change?.type === 'update');
  return applyHunks('f', text, change.hunks);
}

test('[TOOL14] one patch adds, changes, moves and deletes', async () => {
  await using workspace = await openWorkspace({ 'a.py': 'def a():\n  1\n', 'run.sh': 'echo 1\n', 'd.py': 'gone\n' });
  await chmod(workspace.path('run.sh'), 0o755);
  const patch = wrap(
    '*** Update File: a.py',
    '@@ def a():',
    '-  1',
    '+  2',
    '',
    '*** Update File: run.sh',
    '*** Move to: bin/run.sh',
    '-echo 1',
    '+echo 2',
    '*** Add File: new/c.py',
    '+one',
    '+',
    '+two',
    '*** Delete File: d.py',
  );
  const result = await workspace.run('apply_patch', { patch });
  assert.equal(result.output, 'applied the patch:\nM a.py\nD run.sh\nA bin/run.sh\nA new/c.py\nD d.py');
  assert.deepEqual(result.diffs, [
    { path: workspace.path('a.py'), oldText: 'def a():\n  1\n', newText: 'def a():\n  2\n' },
    { path: workspace.path('run.sh'), oldText: 'echo 1\n', newText: '' },
    { path: workspace.path('bin/run.sh'), oldText: null, newText: 'echo 2\n' },
    { path: workspace.path('new/c.py'), oldText: null, newText: 'one\n\ntwo\n' },
    { path: workspace.path('d.py'), oldText: 'gone\n', newText: '' },
  ]);
  const names = Object.keys(await workspace.snapshot());
  assert.deepEqual(names, ['a.py', 'bin', 'bin/run.sh', 'new', 'new/c.py']);
  assert.equal((await stat(workspace.path('bin/run.sh'))).mode & 0o777, 0o755);
});

test('[TOOL14] a patch that does not fit somewhere changes nothing anywhere', async () => {
  await using workspace = await openWorkspace({ 'a.txt': 'one\ntwo\n', 'b.txt': 'x\n', 'b.bin': 'a\0b' });
  await symlink('a.txt', workspace.path('link.txt'));
  const before = await workspace.snapshot();
  const good = ['*** Update File: a.txt', '-one', '+1', '*** Add File: c/d.txt', '+new'];
  const failing: [string, string[]][] = [
    ['patch_failed', ['*** Update File: b.txt', ' x', '@@', '-y', '+z']],
    ['patch_failed', ['*** Add File: b.txt', '+x']],
    ['patch_failed', ['*** Update File: b.txt', '*** Move to: a.txt', '-x', '+y']],
    ['patch_failed', ['*** Delete File: link.txt']],
    ['patch_failed', ['*** Update File: b.txt', '?']],
    ['patch_failed', ['*** Update File: b.txt']],
    ['patch_failed', ['*** Rename File: b.txt']],
    ['not_found', ['*** Update File: none.txt', '-x', '+y']],
    ['not_found', ['*** Delete File: none.txt']],
    ['not_found', ['*** Delete File: b.txt', '*** Update File: b.txt', '-x', '+y']],
    ['binary_file', ['*** Update File: b.bin', '-a', '+b']],
    ['outside_workspace', ['*** Update File: b.txt', '*** Move to: ../b.txt', '-x', '+y']],
    ['protected_path', ['*** Update File: b.txt', '*** Move to: .git/config', '-x', '+y']],
  ];
  for (const [code, lines] of failing) {
    const patch = wrap(...good, ...lines);
    assert.equal((await errorOf(workspace.run('apply_patch', { patch }))).code, code, lines.join('|'));
    assert.equal((await errorOf(workspace.dryRun('apply_patch', { patch }))).code, code, lines.join('|'));
  }
  for (const patch of ['', 'x', '*** Begin Patch', wrap(), '--- a\n+++ b\n', `${wrap(...good)}\nmore`]) {
    assert.equal((await errorOf(workspace.run('apply_patch', { patch: patch || ' ' }))).code, 'patch_failed');
  }
  assert.deepEqual(await workspace.snapshot(), before);
});

test('[TOOL14] a failure names the file and the hunk', async () => {
  await using workspace = await openWorkspace({ 'a.txt': 'one\ntwo\n' });
  const patch = wrap('*** Update File: a.txt', '-one', '+1', '@@', '-three', '+3');
  const { message, details } = await errorOf(workspace.run('apply_patch', { patch }));
  assert.equal(message, 'hunk 2 of a.txt does not match the file');
  assert.deepEqual(details, { path: 'a.txt', hunk: 2, first_line: 'three' });
});

test('[TOOL14] later sections see what earlier ones made', async () => {
  await using workspace = await openWorkspace({ 'a.txt': 'one\ntwo\n', 'old.txt': 'x\n' });
  const lines = ['*** Update File: a.txt', '-one', '+1', '*** Update File: a.txt', ' 1', '-two', '+2'];
  const patch = wrap(...lines, '*** Delete File: old.txt', '*** Add File: old.txt', '+y');
  assert.equal((await workspace.run('apply_patch', { patch })).output, 'applied the patch:\nM a.txt\nM old.txt');
  assert.equal(await workspace.text('a.txt'), '1\n2\n');
  assert.equal(await workspace.text('old.txt'), 'y\n');
});

test('[TOOL15] a hunk finds its place by its anchors and its context', () => {
  const text = 'class A:\n  def f():\n    x\nclass B:\n  def f():\n    x\n';
  assert.equal(patched(text, '@@ class B:', '@@   def f():', '-    x', '+    y'), text.replace(/x\n$/, 'y\n'));
  assert.equal(patched(text, '@@', '-    x', '+    y'), text.replace('x', 'y'));
  assert.equal(patched(text, '-    x', '+    y', '*** End of File'), text.replace(/x\n$/, 'y\n'));
  assert.equal(patched(text, '@@ -1,2 +1,2 @@ class B:', '   def f():', '-    x'), text.replace(/ {4}x\n$/, ''));
  assert.equal(patched('a\nb\n', '@@ a', '+new'), 'a\nnew\nb\n');
  assert.equal(patched('a\nb\n', '+new'), 'a\nb\nnew\n');
  assert.equal(patched('', '+new'), 'new\n');
  assert.equal(patched('only\n', '-only'), '');
});

test('[TOOL15] white space at the ends of lines may differ, and the file keeps its own', () => {
  assert.equal(patched('\tkeep  \n  old\n', ' keep', '-old', '+new'), '\tkeep  \nnew\n');
  assert.equal(patched('a\r\nb\r\n', ' a', '-b', '+c'), 'a\r\nc\r\n');
  assert.equal(patched('a\nb', '-b', '+c'), 'a\nc');
});

test('[TOOL15] a blank line of the file is context; one between sections is not (seed -419082484)', () => {
  assert.equal(patched('\n', '@@', '+a', ' '), 'a\n\n');
  assert.equal(patched('a\nb\n', '@@', ' a', '+new', ''), 'a\nnew\nb\n');
});

test('[TOOL15] any change that a difference describes is made exactly', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '+', '-', '@', '*'), maxLength: 4 });
  const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.map((each) => `${each}\n`).join(''));
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(before !== after && before !== '');
      const { hunks } = structuredPatch('f', 'f', before, after, '', '', { context: Number.MAX_SAFE_INTEGER });
      assert.equal(patched(before, '@@', ...hunks.flatMap(({ lines }) => lines)), after);
    }),
  );
});
