/** Commands where a Session has more roots than its Workspace: each is theirs to write, and each is guarded. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createTools } from '../../src/tools/index.ts';
import { ground, options } from './sandbox-support.ts';
import { errorOf, openWorkspace, Workspace } from './support.ts';

test('[ROOT6] no program of an added root stands in for one of the system', async () => {
  await using trap = await openWorkspace({ 'work/a.txt': '', 'added/bin/x': '' });
  const bin = trap.path('added/bin');
  writeFileSync(join(bin, 'ls'), '#!/bin/sh\necho hijacked\n', { mode: 0o755 });
  symlinkSync(bin, trap.path('link'));
  const env = { PATH: `${bin}:${trap.path('link')}:${process.env.PATH}` };
  const bash = createTools({ env }).find(({ name }) => name === 'bash');
  const context = new Workspace(trap.path('work'), [trap.path('added')]).context();
  const result = await bash?.run({ command: 'ls; echo $PATH' }, context);
  assert.equal(result?.output, `a.txt\n${process.env.PATH}\n`);
});

describe('a confined command with more roots', { concurrency: true, ...options }, () => {
  /** Two directories beside the workspace; the first is added. */
  async function withRoots() {
    const g = await ground();
    const [added, other] = ['added', 'other'].map((name) => join(g.dir, name)) as [string, string];
    for (const path of [added, other]) mkdirSync(path);
    writeFileSync(join(other, 'a.txt'), 'canary');
    const run = (command: string, additionalDirectories: readonly string[] = [added]) =>
      g.bash(command, { additionalDirectories });
    return { ...g, added, other, run };
  }

  test('[ROOT6] works in the workspace, writes every root and nothing else', async () => {
    await using g = await withRoots();
    assert.deepEqual(await g.run(`pwd; echo x > ${g.added}/new; mkdir ${g.added}/d; mv ${g.added}/new ${g.added}/d/`), {
      ok: true,
      output: `${g.workspace}\n`,
      exitCode: 0,
    });
    assert.equal(readFileSync(join(g.added, 'd/new'), 'utf8'), 'x\n');
    assert.deepEqual(await g.run(`ls ${g.dir} | xargs`), { ok: true, output: 'added data home work\n', exitCode: 0 });
    const writable = await g.run("awk '$5 !~ /^.dev/ && $6 ~ /^rw/ && !/ - tmpfs /{print $5}' /proc/self/mountinfo");
    assert.equal(writable.output, `${g.added}\n${g.workspace}\n`);
    assert.equal((await g.run(`ls ${g.added}`, [])).ok, false, 'only while it is a root');
    assert.match((await g.run('exit 3')).output, /only the workspace, the added directories .* can be written\]$/);
  });

  test('[ROOT6] what git obeys is read-only in each root, also before it exists', async () => {
    await using g = await withRoots();
    const plants = [
      'mkdir -p .git/hooks; echo x > .git/hooks/pre-commit',
      'git init --quiet',
      'mv .git aside; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit',
      'echo x >> .git/config',
    ].map((plant) => `cd ${g.added} && { ${plant}; }`);
    for (const plant of plants) await g.run(plant);
    assert.deepEqual(
      [g.added, g.workspace].filter((root) => existsSync(join(root, '.git'))),
      [],
      'and nothing is left',
    );
    g.git('init', '--quiet', '--template=', g.added);
    const config = readFileSync(join(g.added, '.git/config'), 'utf8');
    for (const plant of plants) await g.run(plant);
    assert.equal(readFileSync(join(g.added, '.git/config'), 'utf8'), config);
    assert.deepEqual(readdirSync(join(g.added, '.git/hooks')), []);
    await using linked = await withRoots();
    symlinkSync(linked.home, join(linked.added, '.git'));
    assert.match((await errorOf(linked.run('echo hi'))).message, /symbolic link/);
    assert.equal(existsSync(join(linked.workspace, '.git')), false);
  });

  test('[ROOT6] credentials and the data directory are hidden in each root', async () => {
    await using g = await withRoots();
    const look = `cat ${g.home}/.ssh/id ${g.data}/token 2>/dev/null | wc -c; pwd`;
    for (const added of [[g.home, g.data], [g.dir]])
      assert.deepEqual(await g.run(look, added), { ok: true, output: `0\n${g.workspace}\n`, exitCode: 0 });
    assert.match((await errorOf(g.run('pwd', ['/']))).message, /cannot show a root/);
  });
});
