/** Confinement: what tools can be talked into opening. */
import assert from 'node:assert/strict';
import { mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { locate, resolveInside } from '../../src/tools/workspace.ts';
import { errorOf, openWorkspace, Workspace } from './support.ts';

const only = (workspace: string) => ({ workspace, additionalDirectories: [] });

/** A workspace `inside` with a neighbour of nearly the same name, and symlinks that lead out of it. */
async function openTrap(): Promise<{ trap: Workspace; inside: string } & AsyncDisposable> {
  const trap = await openWorkspace({
    'inside/a.txt': 'mine',
    'inside-evil/secret.txt': 'secret',
    'secret.txt': 'secret',
  });
  await symlink('../secret.txt', trap.path('inside/out.txt'));
  await symlink('../inside-evil', trap.path('inside/out'));
  await symlink(trap.path('not-yet.txt'), trap.path('inside/dangling'));
  await symlink('loop-b', trap.path('inside/loop-a'));
  await symlink('loop-a', trap.path('inside/loop-b'));
  return { trap, inside: trap.path('inside'), [Symbol.asyncDispose]: () => trap[Symbol.asyncDispose]() };
}

test('[TOOL8] only paths whose real place is inside the workspace are resolved', async () => {
  await using world = await openTrap();
  const { trap, inside } = world;
  const outside = ['..', '../secret.txt', '../../etc/passwd', '/etc/passwd', '/', `${inside}-evil`, `${inside}-evil/x`];
  const linked = [
    'out.txt',
    'out',
    'out/secret.txt',
    'out/new/deep.txt',
    'dangling',
    'dangling/x',
    'loop-a',
    'loop-b/x',
  ];
  for (const path of [...outside, ...linked, '../inside-evil/secret.txt', 'a/../../secret.txt']) {
    assert.equal((await errorOf(resolveInside(only(inside), path))).code, 'outside_workspace', path);
  }
  for (const path of [
    'a.txt',
    './a.txt',
    'new/../a.txt',
    `${inside}/a.txt`,
    '../inside/a.txt',
    '//'.concat(inside, '/a.txt'),
  ]) {
    assert.equal(await resolveInside(only(inside), path), trap.path('inside/a.txt'), path);
  }
  for (const path of ['~', '~/x', '%2e%2e/x', ' ..', '.. /x', '...', 'a.txt ', '$HOME', '..\\x']) {
    assert.equal(await resolveInside(only(inside), path), `${inside}/${path}`, path);
  }
  assert.equal(await resolveInside(only(inside), '.'), inside);
  assert.equal((await errorOf(resolveInside(only(inside), 'a\0b'))).code, 'invalid_args');
});

test('[TOOL8] no tool follows a symlink out of the workspace', async () => {
  await using world = await openTrap();
  const workspace = new Workspace(world.inside);
  const before = await world.trap.snapshot();
  const calls: [string, Record<string, unknown>][] = [
    ['read', { path: 'out.txt' }],
    ['read', { path: 'out/secret.txt' }],
    ['write', { path: 'out.txt', content: 'x' }],
    ['write', { path: 'dangling', content: 'x' }],
    ['write', { path: 'out/new.txt', content: 'x' }],
    ['edit', { path: 'out.txt', old_string: 'secret', new_string: 'x' }],
    ['apply_patch', { patch: '*** Begin Patch\n*** Delete File: out/secret.txt\n*** End Patch' }],
    ['list', { path: 'out' }],
    ['glob', { pattern: '*', path: 'out' }],
    ['grep', { pattern: 'secret', path: 'out.txt' }],
  ];
  for (const [tool, args] of calls) {
    assert.equal((await errorOf(workspace.run(tool, args))).code, 'outside_workspace', tool);
    assert.equal((await errorOf(workspace.dryRun(tool, args))).code, 'outside_workspace', tool);
  }
  assert.equal((await workspace.run('grep', { pattern: 'secret' })).output, 'no matches');
  assert.equal((await workspace.run('glob', { pattern: '**/*.txt' })).output, 'a.txt');
  assert.deepEqual(await world.trap.snapshot(), before);
});

test('[TOOL8] a directory that is swapped during the call leads nowhere', async () => {
  await using world = await openWorkspace({ 'inside/d/a.txt': 'mine', 'outside/a.txt': 'secret' });
  const workspace = new Workspace(world.path('inside'));
  const [real, kept, link] = ['d', 'kept', 'link'].map((name) => workspace.path(name)) as [string, string, string];
  await symlink(world.path('outside'), link);
  let running = true;
  const swap = async () => {
    // A write in between makes the directory anew, and any step can come too late: then the next round mends it.
    const clear = () => rm(real, { recursive: true, force: true });
    const steps = [() => rename(real, kept), clear, () => rename(link, real), () => rename(real, link), clear];
    for (const step of [...steps, () => rename(kept, real)]) await step().catch(() => {});
  };
  const swapping = (async () => {
    while (running) await swap();
  })();
  const opened = { mine: 0, refused: 0 };
  try {
    for (let i = 0; i < 200; i++) {
      const read = await workspace.run('read', { path: 'd/a.txt' }).catch(() => undefined);
      assert.notEqual(read?.output, 'secret');
      opened[read ? 'mine' : 'refused']++;
      await workspace.run('write', { path: `d/new-${i}.txt`, content: 'x' }).catch(() => undefined);
    }
  } finally {
    running = false;
    await swapping;
  }
  assert.deepEqual(await readdir(world.path('outside')), ['a.txt']);
  assert.ok(opened.mine > 0 && opened.refused > 0, JSON.stringify(opened));
});

describe('[TOOL13] what git runs cannot be written', () => {
  const refused = [
    '.git/config',
    '.git/hooks/pre-commit',
    '.GIT/Config',
    'sub/.git/config',
    '.git',
    './x/../.git/config',
  ];
  const internal = [
    '.git/modules/m/config',
    '.git/worktrees/w/config.worktree',
    '.git/modules/m/hooks/x',
    'h/x',
    'g/config',
  ];

  test('whether it exists or not, directly or through a symlink', async () => {
    await using workspace = await openWorkspace({ '.gitignore': '' });
    await mkdir(workspace.path('.git/hooks'), { recursive: true });
    await mkdir(workspace.path('real-git'));
    await symlink('.git/hooks', workspace.path('h'));
    await symlink('.git', workspace.path('g'));
    for (const path of [...refused, ...internal]) {
      const patch = `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch`;
      assert.equal((await errorOf(workspace.run('write', { path, content: '' }))).code, 'protected_path', path);
      assert.equal((await errorOf(workspace.dryRun('write', { path, content: '' }))).code, 'protected_path', path);
      assert.equal((await errorOf(workspace.run('apply_patch', { patch }))).code, 'protected_path', path);
    }
  });

  test('but what only looks like it can', async () => {
    await using workspace = await openWorkspace();
    for (const path of ['.gitignore', '.github/config', 'git/hooks/x', '.git-hooks/x', 'my.git/config', 'hooks/x']) {
      assert.ok((await workspace.run('write', { path, content: '' })).ok, path);
    }
  });
});

test('[TOOL1] a location is told only when the path is spelled inside the workspace', () => {
  assert.deepEqual(locate(only('/w'), 'a.txt'), [{ path: '/w/a.txt' }]);
  assert.deepEqual(locate(only('/w'), '/w/a.txt', 3), [{ path: '/w/a.txt', line: 3 }]);
  assert.deepEqual(locate(only('/'), '/etc'), [{ path: '/etc' }]);
  for (const path of ['../secret.txt', '/w-other/x', '/']) assert.deepEqual(locate(only('/w'), path), []);
});
