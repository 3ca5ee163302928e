/** Paths that have led other agents out of their directory, each tried with every tool that takes a path. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { link, mkdir, readdir, readFile, readlink, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { toCoreError } from '../../src/core/errors.ts';
import { openWorkspace, Workspace } from '../tools/support.ts';

const SECRET = 'canary-8c1f';
const run = promisify(execFile);

type Tool = 'read' | 'list' | 'glob' | 'grep' | 'write' | 'edit' | 'apply_patch';
const READERS: readonly Tool[] = ['read', 'list', 'glob', 'grep'];
const WRITERS: readonly Tool[] = ['write', 'edit', 'apply_patch'];

function argsFor(tool: Tool, path: string): Record<string, unknown> {
  const search = { pattern: tool === 'glob' ? '*' : 'canary', path };
  switch (tool) {
    case 'read':
    case 'list':
      return { path };
    case 'glob':
    case 'grep':
      return search;
    case 'write':
      return { path, content: 'overwritten' };
    case 'edit':
      return { path, old_string: 'canary', new_string: 'overwritten', replace_all: true };
    case 'apply_patch':
      return { patch: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch` };
  }
}

/** Where the traps are: in the Workspace, or in a root that a client has added to another one. */
type Place = 'the workspace' | 'an added root';
const PLACES: readonly Place[] = ['the workspace', 'an added root'];

/** A root `ws` with everything a path can be tempted with, and a neighbour of nearly the same name. */
async function openTrap(place: Place) {
  const ground = await openWorkspace({
    'ws/a.txt': 'mine',
    'ws/café-nfc.txt': 'mine',
    'ws/.ssh/id_ed25519': SECRET,
    'ws/.netrc': SECRET,
    'ws/.config/gh/hosts.yml': SECRET,
    'ws/module/.git': 'gitdir: ../../outside/git',
    'ws/real-git/x': 'mine',
    'ws-evil/secret.txt': SECRET,
    'outside/git/config': SECRET,
    'outside/deep/secret.txt': SECRET,
    'secret.txt': SECRET,
    'plain/a.txt': 'mine',
  });
  const at = (name: string) => ground.path(`ws/${name}`);
  const links: [string, string][] = [
    ['up', '..'],
    ['relative', '../secret.txt'],
    ['absolute', ground.path('secret.txt')],
    ['chain-1', 'chain-2'],
    ['chain-2', 'dir/chain-3'],
    ['dir/chain-3', '../../outside'],
    ['dangling', ground.path('not-yet.txt')],
    ['loop', 'loop'],
    ['proc', '/proc/self'],
    ['zero', '/dev/zero'],
    ['hooks', '.git/hooks'],
    ['keys', '.ssh'],
  ];
  await mkdir(at('dir'));
  for (const [name, target] of links) await symlink(target, at(name));
  await link(ground.path('secret.txt'), at('hard'));
  await run('mkfifo', [at('fifo')]);
  const socket = createServer().listen(at('socket'));
  await new Promise((listening) => socket.once('listening', listening));
  const root = new Workspace(ground.path('ws'));
  const isAdded = place === 'an added root';
  return {
    ground,
    root,
    workspace: isAdded ? new Workspace(ground.path('plain'), [root.directory]) : root,
    /** The path as a model spells it: what is not in the Workspace, in full. */
    spelled: (path: string) => (isAdded && !path.startsWith('/') ? `${root.directory}/${path}` : path),
    async [Symbol.asyncDispose]() {
      socket.close();
      await ground[Symbol.asyncDispose]();
    },
  };
}

type Trap = Pick<Awaited<ReturnType<typeof openTrap>>, 'workspace' | 'spelled'>;

/** Everything below the directory, links as links: what must be the same after an attack. */
async function tree(directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) found.push(path, ...(await tree(path)));
    else if (entry.isSymbolicLink()) found.push(`${path} -> ${await readlink(path)}`);
    else found.push(entry.isFile() ? `${path} ${await readFile(path, 'utf8')}` : path);
  }
  return found.sort();
}

/** What every tool has to answer: these codes, nothing else. */
const OUTSIDE: Record<string, string> = {
  parent: '..',
  'parent file': '../secret.txt',
  'parent after a real directory': 'dir/../../secret.txt',
  'parent after a missing directory': 'none/../../secret.txt',
  'parent with many slashes': '..//..///secret.txt',
  'parent behind dots': './././../secret.txt',
  'neighbour with the same prefix': '../ws-evil/secret.txt',
  'root directory': '/',
  'absolute path': '/etc/passwd',
  'absolute path, two slashes': '//etc/passwd',
  'environment of the server': '/proc/self/environ',
  'working directory of the server': '/proc/self/cwd/package.json',
  'root through proc': '/proc/self/root/etc/passwd',
  'open files of the server': '/proc/self/fd/0',
  device: '/dev/zero',
  'symlink to the parent': 'up',
  'below a symlink to the parent': 'up/secret.txt',
  'back through a symlink to the parent': 'up/ws/up/secret.txt',
  'relative symlink': 'relative',
  'absolute symlink': 'absolute',
  'chain of symlinks': 'chain-1/deep/secret.txt',
  'symlink to nothing yet': 'dangling',
  'symlink to itself': 'loop',
  'environment through a symlink': 'proc/environ',
  'working directory through a symlink': 'proc/cwd/package.json',
  'device through a symlink': 'zero',
};
const CREDENTIALS = ['.ssh/id_ed25519', '.SSH/id_ed25519', 'keys/id_ed25519', '.netrc', '.config/gh/hosts.yml'];
const UNNATURAL: Record<string, string> = {
  'NUL byte': 'a.txt\0.png',
  'NUL byte before the way out': '\0/../../secret.txt',
  'a name longer than the system has': 'n'.repeat(5_000),
  'a path longer than the system has': 'n/'.repeat(3_000),
};
const GIT = [
  ...['.git', '.git/config', '.git/hooks/pre-commit', '.git/commondir', '.git/info/attributes', 'dir/.git/config'],
  ...[
    '.GIT/hooks/x',
    '.g\u200cit/config',
    'ſub/.ＧＩＴ/config',
    './dir/../.git/config',
    'hooks/pre-commit',
    'module/.git',
  ],
];
/** Names that other programs trim, decode or fold, and that mean just themselves here. */
const LITERAL = [
  ...['a.txt ', ' a.txt', '"a.txt"', "a.txt'", '%2e%2e%2fsecret.txt', '..%2fsecret.txt', '..\\secret.txt', '... '],
  ...['cafe\u0301-nfc.txt', '~root', '$HOME', 'A.TXT', '\u2024\u2024', '．．', '-rf', 'a\tb', 'file:', '*'],
];

/** Every tool with this path, for real and as a dry run: the codes of the answers. Nothing may leak. */
async function codes({ workspace, spelled }: Trap, tools: readonly Tool[], given: string): Promise<Set<string>> {
  const path = spelled(given);
  const found = new Set<string>();
  for (const tool of tools) {
    for (const how of ['dryRun', 'run'] as const) {
      const answer = await workspace[how](tool, argsFor(tool, path)).catch((error) => toCoreError(error));
      assert.ok(!JSON.stringify(answer).includes(SECRET), `${tool} ${path}`);
      found.add('code' in answer ? answer.code : 'ok');
    }
  }
  return found;
}

for (const place of PLACES) {
  test(`[ATK1] [ROOT5] no spelling leads any tool out of ${place}`, async () => {
    await using trap = await openTrap(place);
    const before = await tree(trap.ground.directory);
    for (const [name, path] of Object.entries(OUTSIDE)) {
      assert.deepEqual([...(await codes(trap, [...READERS, ...WRITERS], path))], ['outside_workspace'], name);
    }
    for (const [name, path] of Object.entries(UNNATURAL)) {
      const tools = [...READERS, ...WRITERS].filter((tool) => tool !== 'apply_patch' || !path.includes('\0'));
      assert.deepEqual([...(await codes(trap, tools, path))], ['invalid_args'], name);
    }
    assert.deepEqual(await tree(trap.ground.directory), before);
  });

  test(`[ATK1] [ROOT5] credentials in a home directory are neither read nor written, by any name, in ${place}`, async () => {
    await using trap = await openTrap(place);
    const before = await tree(trap.ground.directory);
    for (const path of [...CREDENTIALS, '.aws/not-yet', '.docker/config.json']) {
      assert.deepEqual([...(await codes(trap, [...READERS, ...WRITERS], path))], ['protected_path'], path);
    }
    for (const path of ['.', '.config']) {
      for (const tool of ['glob', 'grep'] as const) {
        const { output } = await trap.workspace.run(tool, argsFor(tool, trap.spelled(path)));
        for (const name of ['.ssh', '.netrc', 'hosts.yml'])
          assert.ok(!output.includes(name), `${tool} ${path} ${name}`);
      }
    }
    assert.ok((await trap.workspace.run('write', { path: trap.spelled('.env'), content: 'mine' })).ok);
    await rm(trap.root.path('.env'));
    assert.deepEqual(await tree(trap.ground.directory), before);
  });

  test(`[ATK1] [ROOT5] nothing that git obeys is written, by any name, before or after it exists, in ${place}`, async () => {
    await using trap = await openTrap(place);
    for (const exists of [false, true]) {
      if (exists) await trap.root.write({ '.git/config': 'x', '.git/hooks/pre-commit': 'x', '.git/commondir': 'x' });
      const before = await tree(trap.ground.directory);
      for (const path of GIT) {
        assert.deepEqual([...(await codes(trap, WRITERS, path))], ['protected_path'], path);
      }
      assert.deepEqual(await tree(trap.ground.directory), before);
    }
  });

  test(`[ATK1] [ROOT5] a name is taken as it is: not trimmed, decoded, folded or expanded, in ${place}`, async () => {
    await using trap = await openTrap(place);
    for (const path of LITERAL) {
      assert.ok((await trap.workspace.run('write', { path: trap.spelled(path), content: 'literal' })).ok, path);
      assert.equal(await trap.root.text(path), 'literal');
      assert.equal((await trap.workspace.run('read', { path: trap.spelled(path) })).output, 'literal');
    }
    assert.equal(await trap.root.text('a.txt'), 'mine');
    assert.equal(await trap.root.text('café-nfc.txt'), 'mine');
    assert.equal(await trap.ground.text('secret.txt'), SECRET);
  });

  test(`[ATK1] [ROOT5] what is no regular file is neither waited for nor written, in ${place}`, async () => {
    await using trap = await openTrap(place);
    for (const path of ['fifo', 'socket']) {
      const answers = await codes(trap, ['read', ...WRITERS], path);
      for (const code of answers)
        assert.ok(['not_a_file', 'read_failed', 'not_found'].includes(code), `${path} ${code}`);
    }
  });

  test(`[ATK1] [ROOT5] writing to a second name of an outside file leaves the outside file as it was, in ${place}`, async () => {
    await using trap = await openTrap(place);
    assert.ok(
      (await trap.workspace.run('edit', { path: trap.spelled('hard'), old_string: 'canary', new_string: 'x' })).ok,
    );
    assert.ok((await trap.workspace.run('write', { path: trap.spelled('hard'), content: 'x' })).ok);
    assert.equal(await trap.ground.text('secret.txt'), SECRET);
  });
}

test('[ROOT5] roots are reached by what they are, and each guards what is in it, whatever leads there', async () => {
  await using ground = await openWorkspace({
    'one/a.txt': 'mine',
    'two/b.txt': 'mine',
    'two/.ssh/id': SECRET,
    'two/pixir.db': '',
    'two/token': SECRET,
    'three/c.txt': SECRET,
  });
  const [one, two, three] = ['one', 'two', 'three'].map((name) => ground.path(name)) as [string, string, string];
  await symlink(two, join(one, 'link'));
  await symlink(three, join(two, 'out'));
  const both = { workspace: new Workspace(one, [two]), spelled: (path: string) => path };
  for (const path of ['link/b.txt', '../two/b.txt', `${two}/b.txt`, `${two}/../one/a.txt`])
    assert.deepEqual([...(await codes(both, ['read'], path))], ['ok'], path);
  for (const path of ['link/.ssh/id', '../two/.ssh/id', `${two}/.ssh/id`, 'link/token'])
    assert.deepEqual([...(await codes(both, [...READERS, ...WRITERS], path))], ['protected_path'], path);
  for (const path of ['link/.git/config', `${two}/.git/hooks/x`, `${one}/link/.git`])
    assert.deepEqual([...(await codes(both, WRITERS, path))], ['protected_path'], path);
  for (const path of [three, `${two}/out/c.txt`, 'link/out/c.txt', '../three/c.txt', `${two}-evil/x`])
    assert.deepEqual([...(await codes(both, [...READERS, ...WRITERS], path))], ['outside_workspace'], path);
  const alone = { ...both, workspace: new Workspace(one) };
  for (const path of ['link/b.txt', `${two}/b.txt`])
    assert.deepEqual([...(await codes(alone, [...READERS, ...WRITERS], path))], ['outside_workspace'], path);
  const { output: found } = await both.workspace.run('glob', { pattern: 'b*', path: two });
  assert.equal(found, `${two}/b.txt`);
  const { output } = await both.workspace.run('grep', { pattern: 'mine', path: `${two}/b.txt` });
  assert.equal(output, `${two}/b.txt:1:mine`);
  assert.equal(
    (await both.workspace.run('write', { path: `${two}/new/b.txt`, content: 'x' })).diffs?.[0]?.path,
    `${two}/new/b.txt`,
  );
});
