/** A directory that is swapped for a way out while the tools work in it: nothing of theirs may ever follow. */
import assert from 'node:assert/strict';
import { readdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { openWorkspace, Workspace } from '../tools/support.ts';

const NIGHTLY = process.env.PIXIR_NIGHTLY === '1';
const ROUNDS = NIGHTLY ? 100_000 : 2_000;
const SECRET = 'canary';

interface Race extends AsyncDisposable {
  workspace: Workspace;
  /** What the directory that the link leads to holds. */
  outside(): Promise<string[]>;
}

/** A workspace in which `d` is now a directory and now a symlink to a neighbour of the workspace. */
async function startRace(): Promise<Race> {
  const ground = await openWorkspace({ 'inside/d/a.txt': 'mine', 'outside/a.txt': SECRET });
  const inside = ground.path('inside');
  await symlink(ground.path('outside'), join(inside, 'link'));
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const swapper = new Worker(new URL('./race-swapper.ts', import.meta.url), { workerData: { inside, stop } });
  const exited = new Promise((resolve) => swapper.once('exit', resolve));
  return {
    workspace: new Workspace(inside),
    outside: async () => (await readdir(ground.path('outside'), { recursive: true })).sort(),
    async [Symbol.asyncDispose]() {
      Atomics.store(stop, 0, 1);
      await exited;
      await ground[Symbol.asyncDispose]();
    },
  };
}

test(`[ATK2] ${ROUNDS} tool calls in a directory that is swapped for a way out: none leaves the workspace`, async () => {
  await using race = await startRace();
  const { workspace } = race;
  const calls: ((n: number) => [string, Record<string, unknown>])[] = [
    () => ['read', { path: 'd/a.txt' }],
    (n) => ['write', { path: `d/new-${n % 50}.txt`, content: 'x' }],
    (n) => ['write', { path: `d/sub-${n}/deep/new.txt`, content: 'x' }],
    () => ['edit', { path: 'd/a.txt', old_string: 'mine', new_string: 'mine' }],
    () => ['edit', { path: 'd/a.txt', old_string: SECRET, new_string: 'x' }],
    (n) => ['apply_patch', { patch: `*** Begin Patch\n*** Add File: d/patch-${n}/x\n+x\n*** End Patch` }],
    () => ['apply_patch', { patch: '*** Begin Patch\n*** Delete File: d/a.txt\n*** End Patch' }],
    () => ['list', { path: 'd' }],
  ];
  const seen = { done: 0, refused: 0 };
  for (let n = 0; n < ROUNDS; n++) {
    const [tool, args] = calls[n % calls.length]?.(n) ?? ['read', {}];
    const result = await workspace.run(tool, args).catch(() => undefined);
    assert.ok(!JSON.stringify(result ?? '').includes(SECRET), tool);
    seen[result ? 'done' : 'refused']++;
    // What was deleted or moved away is put back, so that there is always something to win.
    if (n % 100 === 0) await workspace.run('write', { path: 'd/a.txt', content: 'mine' }).catch(() => undefined);
  }
  assert.deepEqual(await race.outside(), ['a.txt']);
  assert.ok(seen.done > ROUNDS / 100 && seen.refused > ROUNDS / 100, JSON.stringify(seen));
});

test('[ATK2] the same race is won against a tool that checks the path and then uses it', async () => {
  await using race = await startRace();
  const { workspace } = race;
  const escaped = async () => (await race.outside()).length > 1;
  for (let n = 0; n < 200_000; n++) {
    const path = workspace.path('d/naive.txt');
    const real = await realpath(workspace.path('d')).catch(() => '');
    if (real.startsWith(workspace.directory)) await writeFile(path, 'x').catch(() => undefined);
    if (n % 20 === 0 && (await escaped())) return;
  }
  assert.fail('the race was never won: the harness shows nothing');
});
