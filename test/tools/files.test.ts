/** read, write, edit and list, on real files. */
import assert from 'node:assert/strict';
import { chmod, stat, symlink } from 'node:fs/promises';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { errorOf, openWorkspace, toolNamed } from './support.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join('');

describe('read', () => {
  test('[O01] shows a small file byte-identical', async () => {
    const texts = {
      'a.txt': 'no end',
      'crlf.txt': 'a\r\nb\r\n',
      'bom.txt': '\ufeffx\n',
      'empty.txt': '',
      'ü.txt': '…',
    };
    await using workspace = await openWorkspace(texts);
    for (const [path, text] of Object.entries(texts)) {
      assert.equal((await workspace.run('read', { path })).output, text);
    }
    assert.equal((await workspace.run('read', { path: workspace.path('a.txt') })).output, 'no end');
  });

  test('[TOOL9] a page says which lines it shows and where to go on', async () => {
    await using workspace = await openWorkspace({ 'a.txt': numbered(10) });
    const page = async (args: object) => (await workspace.run('read', { path: 'a.txt', ...args })).output;
    assert.equal(
      await page({ offset: 3, limit: 2 }),
      'line 3\nline 4\n[truncated: showing lines 3-4 of 10; continue with offset=5]',
    );
    assert.equal(
      await page({ offset: 0, limit: 1 }),
      'line 1\n[truncated: showing lines 1-1 of 10; continue with offset=2]',
    );
    assert.equal(await page({ offset: 9 }), 'line 9\nline 10\n[end of file: showing lines 9-10 of 10]');
    assert.equal(await page({ offset: 11 }), '[end of file: it has 10 lines]');
    assert.equal(await page({ limit: 10 }), numbered(10));
  });

  test('[TOOL9] pages of a long file, put together, are the file', async () => {
    await using workspace = await openWorkspace({ 'a.txt': numbered(5_000) });
    let text = '';
    for (let offset: string | undefined = '1'; offset; ) {
      const { output } = await workspace.run('read', { path: 'a.txt', offset: Number(offset) });
      const marker = output.lastIndexOf('[');
      text += output.slice(0, marker);
      offset = /offset=(\d+)/.exec(output.slice(marker))?.[1];
    }
    assert.equal(text, numbered(5_000));
  });

  test('[TOOL9] a line longer than a page is cut between characters', async () => {
    await using workspace = await openWorkspace({ 'a.txt': `${'€'.repeat(10_000)}\nnext\n` });
    const { output } = await workspace.run('read', { path: 'a.txt' });
    const marker = '\n[truncated: showing the first 15999 of 30000 bytes of line 1 of 2; continue with offset=2]';
    assert.equal(output, '€'.repeat(5_333) + marker);
  });

  test('[O01] says why it cannot read', async () => {
    await using workspace = await openWorkspace({
      'nul.bin': 'a\0b',
      'latin1.txt': Buffer.from([0x61, 0xe9]),
      'd/x': '',
    });
    await workspace.write({ 'huge.txt': Buffer.alloc(10 * 1024 * 1024 + 1, 'a') });
    await workspace.run('bash', { command: 'mkfifo fifo' });
    const code = async (path: string) => (await errorOf(workspace.run('read', { path }))).code;
    assert.equal(await code('missing.txt'), 'not_found');
    assert.equal(await code('nul.bin/x'), 'not_found');
    assert.equal(await code('d'), 'not_a_file');
    assert.equal(await code('fifo'), 'not_a_file');
    assert.equal(await code('nul.bin'), 'binary_file');
    assert.equal(await code('latin1.txt'), 'binary_file');
    assert.equal(await code('huge.txt'), 'too_large');
    assert.equal(await code('x'.repeat(5_000)), 'invalid_args');
  });
});

describe('write', () => {
  test('[O02] makes the file and its directories and shows the difference', async () => {
    await using workspace = await openWorkspace();
    const result = await workspace.run('write', { path: 'out/a.txt', content: 'hello' });
    assert.equal(result.output, 'wrote 5 bytes to out/a.txt');
    assert.deepEqual(result.diffs, [{ path: workspace.path('out/a.txt'), oldText: null, newText: 'hello' }]);
    assert.equal(await workspace.text('out/a.txt'), 'hello');
  });

  test('[TOOL10] replaces a file in one step, keeps its mode and leaves nothing beside it', async () => {
    await using workspace = await openWorkspace({ 'run.sh': 'old' });
    await chmod(workspace.path('run.sh'), 0o755);
    const { ino } = await stat(workspace.path('run.sh'));
    const { diffs } = await workspace.run('write', { path: 'run.sh', content: 'new' });
    assert.deepEqual(diffs, [{ path: workspace.path('run.sh'), oldText: 'old', newText: 'new' }]);
    const after = await stat(workspace.path('run.sh'));
    assert.equal(after.mode & 0o777, 0o755);
    assert.notEqual(after.ino, ino);
    assert.deepEqual(Object.keys(await workspace.snapshot()), ['run.sh']);
  });

  test('[TOOL10] writes to where a symlink points and keeps the symlink', async () => {
    await using workspace = await openWorkspace({ 'real.txt': 'old' });
    await symlink('real.txt', workspace.path('link.txt'));
    await symlink('later.txt', workspace.path('dangling.txt'));
    await workspace.run('write', { path: 'link.txt', content: 'new' });
    await workspace.run('write', { path: 'dangling.txt', content: 'made' });
    assert.equal(await workspace.text('real.txt'), 'new');
    assert.equal(await workspace.text('later.txt'), 'made');
    assert.equal((await workspace.snapshot())['link.txt'], '120777 real.txt');
  });

  test('[O02] says why it cannot write, and a dry run says the same', async () => {
    await using workspace = await openWorkspace({ 'd/x': '', 'f.txt': '' });
    for (const [path, code] of [
      ['d', 'not_a_file'],
      ['.', 'not_a_file'],
      ['f.txt/below', 'write_failed'],
    ] as const) {
      assert.equal((await errorOf(workspace.run('write', { path, content: '' }))).code, code, path);
      assert.equal((await errorOf(workspace.dryRun('write', { path, content: '' }))).code, code, path);
    }
  });

  test('[TOOL11] leaves out the difference of long or binary files', async () => {
    await using workspace = await openWorkspace({ 'a.bin': 'a\0b' });
    const long = 'x'.repeat(256 * 1024 + 1);
    assert.deepEqual((await workspace.run('write', { path: 'a.bin', content: 'text' })).diffs, []);
    assert.deepEqual((await workspace.run('write', { path: 'long.txt', content: long })).diffs, []);
    assert.deepEqual((await workspace.run('write', { path: 'long.txt', content: 'short' })).diffs, []);
  });
});

describe('edit', () => {
  const edit = { path: 'a.txt', old_string: 'two', new_string: '2' };

  test('[O03] replaces a unique match', async () => {
    await using workspace = await openWorkspace({ 'a.txt': 'one two three' });
    const result = await workspace.run('edit', edit);
    assert.equal(result.output, 'replaced 1 occurrence in a.txt');
    const [oldText, newText] = ['one two three', 'one 2 three'];
    assert.deepEqual(result.diffs, [{ path: workspace.path('a.txt'), oldText, newText }]);
    assert.equal(await workspace.text('a.txt'), newText);
  });

  test('[O03] refuses what does not match or matches more than once, and leaves the file', async () => {
    await using workspace = await openWorkspace({ 'a.txt': 'two two two', 'crlf.txt': 'a\r\nb\r\n' });
    const before = await workspace.snapshot();
    const error = await errorOf(workspace.run('edit', edit));
    assert.deepEqual([error.code, error.details], ['not_unique', { path: 'a.txt', occurrences: 3 }]);
    assert.equal((await errorOf(workspace.run('edit', { ...edit, old_string: 'four' }))).code, 'no_match');
    assert.equal((await errorOf(workspace.run('edit', { ...edit, path: 'b.txt' }))).code, 'not_found');
    const crlf = await errorOf(workspace.run('edit', { ...edit, path: 'crlf.txt', old_string: 'a\nb' }));
    assert.match(crlf.message, /CRLF/);
    assert.deepEqual(await workspace.snapshot(), before);
    assert.ok(!toolNamed('edit').schema.safeParse({ ...edit, old_string: '' }).success);
  });

  test('[O03] replaces every match when asked to', async () => {
    await using workspace = await openWorkspace({ 'a.txt': 'two two two' });
    const all = { ...edit, replace_all: true };
    assert.match((await workspace.dryRun('edit', all)).output, /^would replace 3 occurrences/);
    assert.equal((await workspace.run('edit', all)).output, 'replaced 3 occurrences in a.txt');
    assert.equal(await workspace.text('a.txt'), '2 2 2');
  });

  test('[TOOL12] what it puts in is taken literally', async () => {
    await using workspace = await openWorkspace();
    const text = fc.string({ unit: fc.constantFrom('$', '&', '1', '`', "'", '\\', '\n', 'é') });
    await fc.assert(
      fc.asyncProperty(text, async (new_string) => {
        await workspace.write({ 'a.txt': '<two>' });
        await workspace.run('edit', { ...edit, new_string });
        assert.equal(await workspace.text('a.txt'), `<${new_string}>`);
      }),
      { numRuns: 30 },
    );
  });
});

test('[TOOL9] list names entries in order and marks directories', async () => {
  await using workspace = await openWorkspace({ 'b.txt': '', 'a/x': '', '.hidden': '', 'Z.txt': '' });
  await symlink('a', workspace.path('link'));
  assert.equal((await workspace.run('list', {})).output, '.hidden\nZ.txt\na/\nb.txt\nlink');
  assert.equal((await workspace.run('list', { path: 'link' })).output, 'x');
  assert.equal((await errorOf(workspace.run('list', { path: 'b.txt' }))).code, 'not_found');
});
