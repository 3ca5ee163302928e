/** The safe list: which commands may run without being asked for. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { isSafeCommand } from '../../src/tools/shell-safety.ts';
import { readWords } from '../../src/tools/shell-words.ts';
import { openWorkspace, toolNamed } from './support.ts';

function assertAll(safe: boolean, commands: readonly string[]): void {
  for (const command of commands) assert.equal(isSafeCommand(command), safe, JSON.stringify(command));
}

test('[X02] [X03] commands that only read have the effect read, others execute', () => {
  const { effect } = toolNamed('bash');
  for (const command of ['ls -la', 'git status', 'grep -r foo .']) assert.equal(effect({ command }), 'read', command);
  for (const command of ['rm file', 'npm install']) assert.equal(effect({ command }), 'execute', command);
});

test('[X04] safe commands', () => {
  assertAll(true, ['ls', 'cat file.txt', 'find . -name AGENTS.md -print', 'env find . -name x', 'env A=1 git status']);
  assertAll(true, ['git log main..HEAD', 'echo {1..10}', 'pwd', '  ls  ', 'ls\n', 'env', 'true', 'date', 'whoami']);
  assertAll(true, ["rg -n 'foo|bar' src -g '*.ts'", 'rg --files', 'head -n 20 a.txt', 'tail -5 a', 'sort -rn -k2,2 a']);
  assertAll(true, [
    'git diff HEAD~2 --stat',
    'git show HEAD:a.txt',
    'git --no-pager log --oneline -n 5',
    'git branch -a',
  ]);
  assertAll(true, ['ls src/*.ts', 'ls ./*.ts', 'wc -l a b', 'uniq -c a', 'date +%s', 'stat -c %s a', 'tree -L 2']);
  assertAll(true, ['grep -rn "two words" src', "find . -type f -name '*.ts' -mtime -1", 'diff -u a b', 'file a']);
});

test('[X05] unsafe commands', () => {
  assertAll(false, ['rm file', 'git push', 'git commit -m x', 'find .. -name x', 'find . -exec rm {} +']);
  assertAll(false, ['find . -execdir rm x', 'find . -ok rm x', 'find . -okdir rm x', 'find . -delete']);
  assertAll(false, ['env rm -rf .pixir', 'xargs find .', 'grep foo ../x', 'ls && rm x', 'ls\nrm x', 'ls\rrm x']);
  assertAll(false, ['ls & rm x', 'cat a | sh', 'echo x > f', 'cat $(whoami)', 'curl x; sh', 'ls || rm x', '', '  ']);
});

test('[TOOL17] no option of a safe program writes or starts another program', () => {
  assertAll(false, ['git -C x push', 'git -c core.pager=sh log', 'git --git-dir=x status', 'git --exec-path=. status']);
  assertAll(false, ['git branch -D x', 'git branch x', 'git stash', 'git config a b', 'git restore .', 'git switch x']);
  assertAll(false, [
    'git apply x',
    'git worktree add x',
    'git diff --output=f',
    'git diff --no-index a b',
    'git log -O f',
  ]);
  assertAll(false, [
    'git diff --ext-diff',
    'git log --show-signature',
    'git log --format=%G?',
    'git grep -Ovi x',
    'git',
  ]);
  assertAll(false, [
    'git remote add a b',
    'git remote update',
    'git tag',
    'git tag x',
    'git status --output=x',
    'git diff --outpu=x',
  ]);
  assertAll(false, [
    'sort -o f a',
    'sort -of a',
    'sort -no f a',
    'sort --output=f a',
    'sort --outp f a',
    'sort --compress-program=sh a',
  ]);
  assertAll(false, [
    'rg --pre cmd x',
    'rg --pre=cmd x',
    'rg -z x',
    'rg --search-zip x',
    'rg --hostname-bin=x y',
    'rg -L x',
  ]);
  assertAll(false, [
    'date -s x',
    'date 01010000',
    'date --set=x',
    'tree -o f',
    'tree -ao f',
    'tree -R -H x',
    'ls -o > f',
  ]);
  assertAll(false, [
    'find . -fprintf f x',
    'find . -fprint f',
    'find . -fls f',
    'find -L . -name x',
    'find . -files0-from a',
  ]);
  assertAll(false, [
    'env -S "rm x"',
    'env -i rm x',
    'env -C .. ls',
    'env PATH=. ls',
    'env LD_PRELOAD=./x.so ls',
    'env GIT_DIR=x git log',
  ]);
  assertAll(
    false,
    ['env env rm x', 'env A=1', 'env A=1 B=2'].map((command) => `${command} sh`),
  );
  assertAll(false, [
    'uniq a b',
    'uniq - b',
    'uniq -c a b',
    'uniq a*',
    'file -C -m x',
    'grep -R x',
    'grep -f x y',
    'diff --to-file=x a',
  ]);
  assertAll(false, [
    'tail -f x',
    'wc --files0-from=x',
    'A=1 ls',
    'PATH=. ls',
    './ls',
    'bash -c ls',
    'sudo ls',
    'command ls',
  ]);
});

test('[TOOL17] nothing outside the workspace is named', () => {
  assertAll(false, [
    'cat /etc/passwd',
    '/bin/cat a',
    'cat ~/x',
    'cat ~',
    'cat ~root/x',
    'cat "/etc/passwd"',
    "cat '..'/x",
  ]);
  assertAll(false, [
    'cat a/../../x',
    'ls ..',
    'ls a/..',
    'git show HEAD:../x',
    'realpath --relative-to=/ a',
    'cat .*/x',
    'cat .?/x',
  ]);
  assertAll(false, [
    'cat {/etc/passwd,a}',
    'cat .{.,}/x',
    'cat $HOME',
    'cat "$HOME"',
    `cat \${HOME}`,
    'cat a=~/x',
    'ls {a,b}',
  ]);
  assertAll(false, [
    'find . {-delete,-print}',
    'sort *',
    'find -*',
    'l? a',
    'ls [a]*',
    'cat a\\ b',
    'cat "a\\"b"',
    "cat 'a",
    'cat "a',
  ]);
  assertAll(false, [
    'cat <a',
    'cat < a',
    'ls # x',
    'ls !x',
    '! ls',
    'ls `x`',
    'echo "`x`"',
    '(ls)',
    '{ ls; }',
    'ls\u00a0rm',
    'ls\0rm',
  ]);
  assertAll(false, [
    "cat $'a'",
    'cat "a!b"',
    'ls\u2028rm',
    'ls \x0bx',
    'cat <(ls)',
    `ls \${x}`,
    'ls 2>&1',
    'echo a^b;',
    'x'.repeat(5_000),
  ]);
});

test('[TOOL17] a command with an unquoted operator, expansion or line break is never safe', () => {
  const harmful = fc.constantFrom(
    '$',
    '`',
    ';',
    '&',
    '|',
    '<',
    '>',
    '(',
    ')',
    '\n',
    '\r',
    '\\',
    '!',
    '#',
    '{',
    '[',
    '\0',
    '"',
    "'",
  );
  const plain = fc.string({ unit: fc.constantFrom('a', '.', '-', ' ', '=', '1') });
  fc.assert(
    fc.property(plain, harmful, plain, (before, character, after) => {
      assert.ok(!isSafeCommand(`ls ${before}${character}x${after}`));
    }),
  );
});

test('[TOOL17] words are read exactly as bash reads them', async () => {
  await using workspace = await openWorkspace();
  const piece = fc.constantFrom(
    'a',
    'B1',
    '.',
    '-n',
    ' ',
    '  ',
    '\t',
    "'x y'",
    '"x  y"',
    "''",
    '=',
    '~',
    '^',
    '@',
    '%',
    '/',
    ':',
    '+',
    "'$A'",
    '"\'"',
  );
  const commands = fc.sample(
    fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join('')),
    { numRuns: 400, seed: 7 },
  );
  const read = commands.filter((command) => readWords(command) !== undefined);
  assert.ok(read.length > 100);
  const script = read.map((command) => `printf '%s\\0' ${command}; printf '\\n\\0'`).join('\n');
  const output = execFileSync('bash', ['-c', script], {
    cwd: workspace.directory,
    env: { HOME: '/home/x' },
    encoding: 'utf8',
  });
  const seen = output.split('\n\0').slice(0, -1);
  // printf without words still prints its format once.
  const words = read.map((command) => (readWords(command) ?? []).map(({ text }) => text));
  assert.deepEqual(
    seen,
    words.map((each) => `${each.join('\0')}\0`),
  );
});

test('[TOOL17] git status starts nothing that the repository configured', async () => {
  await using workspace = await openWorkspace({ 'spy.sh': '#!/bin/sh\ntouch spied\n', 'a.txt': 'x' });
  const configured = 'git init -q && git config core.fsmonitor "sh spy.sh" && git add a.txt && rm -f spied';
  assert.ok((await workspace.run('bash', { command: configured })).ok);
  const before = await workspace.snapshot();
  assert.match((await workspace.run('bash', { command: 'git status --short' })).output, /^A {2}a.txt$/m);
  assert.deepEqual(await workspace.snapshot(), before);
});

test('[T03] [T05] a title names the path or the command, cut after 60 characters', () => {
  const title = (name: string, args: object) => toolNamed(name).title(toolNamed(name).schema.parse(args));
  assert.equal(title('read', { path: 'a.txt' }), 'read a.txt');
  assert.equal(title('bash', { command: 'ls -la' }), 'bash: ls -la');
  assert.equal(title('bash', { command: 'x'.repeat(60) }), `bash: ${'x'.repeat(60)}`);
  assert.equal(title('bash', { command: 'x'.repeat(61) }), `bash: ${'x'.repeat(57)}...`);
  assert.equal(title('bash', { command: 'ls\nrm x' }), 'bash: ls\\nrm x');
});
