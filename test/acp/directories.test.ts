/** `_pixir/directories`, on real directories. */
import assert from 'node:assert/strict';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createWorkspaces } from '../../src/cli/workspaces.ts';
import { listDirectories } from '../../src/core/directories.ts';
import { LOCAL, type Principal } from '../../src/core/principal.ts';
import { RpcError, type WireClient } from '../support/wire-client.ts';
import { type World, world } from '../support/world.ts';

const { signal } = new AbortController();
const limitedTo = (...workspaces: string[]): Principal => ({ ...LOCAL, name: 'phone', workspaces });

/** `a` with what is in it, and `b` beside it. */
async function grounds({ dir }: World) {
  const [a, b] = [join(dir, 'a'), join(dir, 'b')];
  for (const name of ['a/z', 'a/one', 'a/One', 'a/.hidden', 'a/one/deep', 'b/secret'])
    await mkdir(join(dir, name), { recursive: true });
  await writeFile(join(a, 'file'), '');
  await symlink(join(a, 'one/deep'), join(a, 'link'));
  await symlink(b, join(a, 'out'));
  await symlink(join(a, 'file'), join(a, 'file-link'));
  await symlink('nowhere', join(a, 'dangling'));
  await symlink('loop', join(a, 'loop'));
  return { a, b };
}

const names = (result: { directories: { name: string }[] }) => result.directories.map(({ name }) => name);

test('[DIRS1] without a path: where Sessions may begin, as far as both the operator and the credential allow', async () => {
  await using w = await world();
  const { a, b } = await grounds(w);
  const client = await w.client();
  const begin = await client.request('_pixir/directories');
  const both = [w.dir, '/'].map((path) => ({ name: path, path }));
  assert.deepEqual(begin, { path: null, parent: null, directories: both });
  const paths = async (roots: string[] | null, principal: Principal) => {
    const runtime = { ...w.runtime, ...createWorkspaces(roots, w.dir) };
    const { directories } = await listDirectories(runtime, principal, undefined, signal);
    return directories.map(({ path }) => path);
  };
  assert.deepEqual(await paths([a, join(w.dir, 'gone'), b], LOCAL), [a, b]);
  assert.deepEqual(await paths([a, b], limitedTo(b, w.dir)), [a, b]);
  assert.deepEqual(await paths([a, b], limitedTo(join(a, 'one'))), [join(a, 'one')]);
  assert.deepEqual(await paths(null, limitedTo(a)), [a]);
  assert.deepEqual(await paths([a], limitedTo(b)), []);
});

test('[DIRS2] with a path: its directories by name, without hidden ones; a symlink is its target, where that is allowed', async () => {
  await using w = await world();
  const { a, b } = await grounds(w);
  const client = await w.client();
  const open = await client.request('_pixir/directories', { path: `${b}/../a/` });
  assert.deepEqual(open, {
    path: a,
    parent: w.dir,
    directories: [
      { name: 'One', path: join(a, 'One') },
      { name: 'link', path: join(a, 'one/deep') },
      { name: 'one', path: join(a, 'one') },
      { name: 'out', path: b },
      { name: 'z', path: join(a, 'z') },
    ],
  });
  const limited = await (await w.client(limitedTo(a))).request('_pixir/directories', { path: a });
  assert.deepEqual([limited.parent, names(limited as never)], [null, ['One', 'link', 'one', 'z']]);
  const runtime = { ...w.runtime, ...createWorkspaces([a], a) };
  const operated = await listDirectories(runtime, LOCAL, a, signal);
  assert.deepEqual([operated.parent, names(operated)], [null, ['One', 'link', 'one', 'z']]);
  assert.equal((await client.request('_pixir/directories', { path: '/' })).parent, null);
  for (const { path } of operated.directories) await client.newSession(path);
});

test('[DIRS2] at most 1,000, and only those that can be read', async () => {
  await using w = await world();
  const many = join(w.dir, 'many');
  for (let n = 0; n < 1_010; n++) await mkdir(join(many, String(n).padStart(4, '0')), { recursive: true });
  const { directories } = await listDirectories(w.runtime, LOCAL, many, signal);
  assert.deepEqual([directories.length, directories.at(-1)?.name], [1_000, '0999']);
  await assert.rejects(listDirectories(w.runtime, LOCAL, many, AbortSignal.abort()), { name: 'AbortError' });
  // Nothing is unreadable to root.
  if (process.getuid?.() === 0) return;
  await chmod(join(many, '0000'), 0);
  assert.equal(names(await listDirectories(w.runtime, LOCAL, many, signal))[0], '0001');
  await assert.rejects(listDirectories(w.runtime, LOCAL, join(many, '0000'), signal), { code: 'invalid_params' });
});

test('[DIRS3] what session/new refuses is refused alike, and a refusal tells nothing of what is there', async () => {
  await using w = await world();
  const { a, b } = await grounds(w);
  const refusal = async (client: WireClient, method: string, params: object) => {
    const error = await client.request(method, params).then(
      () => assert.fail('it was let in'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof RpcError && error.code === -32602);
    return [error.message, error.data];
  };
  const alike = async (client: WireClient, path: string) => {
    const refused = await refusal(client, '_pixir/directories', { path });
    assert.deepEqual(refused, await refusal(client, 'session/new', { cwd: path, mcpServers: [] }), path);
    return String(refused[0]);
  };
  const all = await w.client();
  for (const path of [join(a, 'file'), join(a, 'gone'), join(a, 'loop'), `${a}\0`, `/${'x'.repeat(5_000)}`])
    await alike(all, path);
  const limited = await w.client(limitedTo(a));
  const outside = new Set<string>();
  for (const path of [b, join(b, 'gone'), join(a, 'out'), join(a, 'out/secret'), `${a}/../b`, `${a}/..`, '/', `${a}x`])
    outside.add(await alike(limited, path));
  assert.deepEqual([...outside], ['cwd is outside the directories that the credential allows']);
  for (const path of ['', '.', 'a', '../a', 7, null, {}])
    assert.match(String((await refusal(all, '_pixir/directories', { path }))[0]), /^invalid params/);
});
