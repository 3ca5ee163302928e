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
  /** The path of something in the attacked root, as a model spells it. */
  at(path: string): string;
  /** What the directory that the link leads to holds. */
  outside(): Promise<string[]>;
}

/** Which root is attacked, and where the way out of it leads. */
const RACES = {
  'the workspace': { added: false, outside: 'outside' },
  'an added root': { added: true, outside: 'outside' },
  'an added root, for what another one guards': { added: true, outside: 'main/.ssh' },
} as const;

/** A root in which `d` is now a directory and now a symlink to what is none of a tool's business. */
async function startRace({ added, outside }: (typeof RACES)[keyof typeof RACES]): Promise<Race> {
  const ground = await openWorkspace({ 'inside/d/a.txt': 'mine', 'main/x': '', [`${outside}/a.txt`]: SECRET });
  const inside = ground.path('inside');
  await symlink(ground.path(outside), join(inside, 'link'));
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const swapper = new Worker(new URL('./race-swapper.ts', import.meta.url), { workerData: { inside, stop } });
  const exited = new Promise((resolve) => swapper.once('exit', resolve));
  return {
    workspace: added ? new Workspace(ground.path('main'), [inside]) : new Workspace(inside),
    at: (path) => join(added ? inside : '', path),
    outside: async () => (await readdir(ground.path(outside), { recursive: true })).sort(),
    async [Symbol.asyncDispose]() {
      Atomics.store(stop, 0, 1);
      await exited;
      await ground[Symbol.asyncDispose]();
    },
  };
}

for (const name of Object.keys(RACES) as (keyof typeof RACES)[]) {
  test(`[ATK2] [ROOT5] ${ROUNDS} tool calls in a directory that is swapped for a way out of ${name}: none takes it`, async () => {
    await using race = await startRace(RACES[name]);
    const { workspace, at } = race;
    const calls: ((n: number) => [string, Record<string, unknown>])[] = [
      () => ['read', { path: at('d/a.txt') }],
      (n) => ['write', { path: at(`d/new-${n % 50}.txt`), content: 'x' }],
      (n) => ['write', { path: at(`d/sub-${n}/deep/new.txt`), content: 'x' }],
      () => ['edit', { path: at('d/a.txt'), old_string: 'mine', new_string: 'mine' }],
      () => ['edit', { path: at('d/a.txt'), old_string: SECRET, new_string: 'x' }],
      (n) => ['apply_patch', { patch: `*** Begin Patch\n*** Add File: ${at(`d/patch-${n}/x`)}\n+x\n*** End Patch` }],
      () => ['apply_patch', { patch: `*** Begin Patch\n*** Delete File: ${at('d/a.txt')}\n*** End Patch` }],
      () => ['list', { path: at('d') }],
    ];
    const seen = { done: 0, refused: 0 };
    for (let n = 0; n < ROUNDS; n++) {
      const [tool, args] = calls[n % calls.length]?.(n) ?? ['read', {}];
      const result = await workspace.run(tool, args).catch(() => undefined);
      assert.ok(!JSON.stringify(result ?? '').includes(SECRET), tool);
      seen[result ? 'done' : 'refused']++;
      // What was deleted or moved away is put back, so that there is always something to win.
      if (n % 100 === 0) await workspace.run('write', { path: at('d/a.txt'), content: 'mine' }).catch(() => undefined);
    }
    assert.deepEqual(await race.outside(), ['a.txt']);
    assert.ok(seen.done > ROUNDS / 100 && seen.refused > ROUNDS / 100, JSON.stringify(seen));
  });
}

test('[ATK2] the same race is won against a tool that checks the path and then uses it', async () => {
  await using race = await startRace(RACES['the workspace']);
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
