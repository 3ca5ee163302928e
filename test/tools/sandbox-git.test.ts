/** What git runs or obeys cannot be written from inside the sandbox, whatever there is of it. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ground, options } from './sandbox-support.ts';
import { errorOf } from './support.ts';

const plant = 'echo "touch ran" > .git/hooks/pre-commit';
const HOSTILE_TO_GIT = [
  plant,
  `mkdir -p .git/hooks; ${plant}`,
  `mv .git aside; mkdir -p .git/hooks; ${plant}`,
  'rm -rf .git/hooks; ln -s /tmp .git/hooks',
  'mv .git/hooks .git/h; cp -r .git/h .git/hooks; echo x > .git/hooks/post-checkout',
  'git config core.hooksPath x',
  'echo "[core] fsmonitor = ./evil" >> .git/config',
  'cp .git/config c; echo x >> c; mv -f c .git/config',
  'rm -f .git/config; echo x > .git/config; echo x > .git/config.worktree',
  'ln -sf /tmp/x .git/config',
  'git init; git init --template=/tmp',
  'rm -rf .git; git init; echo x > .git/hooks/pre-push',
  'umount .git/hooks; mount -o remount,rw .git/hooks; unshare -Urm umount .git/hooks; echo x > .git/hooks/x',
];

describe('git in the sandbox', { concurrency: true, ...options }, () => {
  test('[SBX3] hooks and configuration of git stay as they are', async () => {
    await using g = await ground();
    g.git('init', '--quiet', '--template=');
    const before = readFileSync(join(g.workspace, '.git/config'), 'utf8');
    for (const command of HOSTILE_TO_GIT) {
      await g.bash(command);
      assert.equal(readFileSync(join(g.workspace, '.git/config'), 'utf8'), before, command);
      assert.deepEqual(readdirSync(join(g.workspace, '.git/hooks')), [], command);
      assert.equal(readFileSync(join(g.workspace, '.git/config.worktree'), 'utf8'), '', command);
    }
  });

  test('[SBX3] where there is no repository, no command makes one, and nothing is left', async () => {
    await using g = await ground();
    await Promise.all(HOSTILE_TO_GIT.map((command) => g.bash(command)));
    assert.equal(existsSync(join(g.workspace, '.git')), false);
  });

  test('[SBX3] a linked worktree is shown its repository, guarded, and a file that only claims to be one nothing', async () => {
    await using g = await ground();
    const [main, tree] = [join(g.home, 'main'), join(g.workspace, 'tree')];
    g.git('init', '--quiet', '--template=', main);
    g.git('-C', main, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '-m', 'one');
    g.git('-C', main, 'worktree', 'add', '--quiet', tree);
    const commit = 'git -c user.name=a -c user.email=a@b commit --quiet --allow-empty -m two && git log --format=%s';
    assert.equal((await g.bash(commit, { workspace: tree })).output, 'two\none\n');
    const hook = join(main, '.git/hooks/pre-commit');
    assert.equal((await g.bash(`echo touch ran > ${hook}`, { workspace: tree })).ok, false);
    const forged = join(g.workspace, 'worktrees/forged');
    mkdirSync(forged, { recursive: true });
    for (const [gitdir, commondir] of [
      [`${main}/.git/worktrees/tree`, ''],
      ['.', '../..'],
      [g.home, '.'],
    ] as const) {
      writeFileSync(join(forged, '.git'), `gitdir: ${gitdir}`);
      writeFileSync(join(forged, 'gitdir'), '.git');
      writeFileSync(join(forged, 'commondir'), commondir);
      const { output } = await g.bash(`ls -d ${main} ${tree} ~/.ssh 2>/dev/null | wc -l`, { workspace: forged });
      assert.equal(output, '0\n', gitdir);
    }
  });

  test('[SBX3] a .git that is a file stays one; a link is refused', async () => {
    await using g = await ground();
    writeFileSync(join(g.workspace, '.git'), 'gitdir: /nowhere');
    for (const command of HOSTILE_TO_GIT) await g.bash(command);
    assert.equal(readFileSync(join(g.workspace, '.git'), 'utf8'), 'gitdir: /nowhere');
    await using linked = await ground();
    symlinkSync(linked.home, join(linked.workspace, '.git'));
    assert.match((await errorOf(linked.bash('echo hi'))).message, /symbolic link/);
  });
});
