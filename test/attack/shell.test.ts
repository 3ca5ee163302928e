/** The judgement of commands: none that could do harm is ever taken for one that only reads. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import type { Event } from '../../src/core/event.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { createTools } from '../../src/tools/index.ts';
import { isSafeCommand } from '../../src/tools/shell-safety.ts';
import { world } from '../support/world.ts';
import { BYPASSES } from './shell-corpus.ts';

/** One Turn in which the model tries all of them. */
async function tryAll(modeId: 'build' | 'plan', permissionCeiling: 'ask' | 'auto') {
  const calls = BYPASSES.map((command, n) => call(`c${n}`, 'bash', { command }));
  await using w = await world({
    script: [
      [...calls, finish()],
      [...say('Done.'), finish()],
    ],
    tools: createTools({ env: { PATH: process.env.PATH } }),
    settings: { permissionCeiling },
  });
  const client = await w.client();
  let asked = 0;
  client.onPermission = () => {
    asked++;
    return { outcome: { outcome: 'selected', optionId: 'reject' } };
  };
  const sessionId = await client.newSession(w.dir);
  await client.request('session/set_mode', { sessionId, modeId });
  await client.prompt(sessionId, 'go');
  assert.deepEqual(await readdir(w.dir), []);
  return { asked, results: (await w.events(sessionId)).filter((event) => event.type === 'tool_result') };
}

function assertDenied(results: readonly Event<'tool_result'>[]): void {
  assert.equal(results.length, BYPASSES.length);
  for (const [n, { data }] of results.entries()) assert.equal(data.error?.kind, 'permission_denied', `${BYPASSES[n]}`);
}

test(`[ATK3] ${BYPASSES.length} ways around a judge of commands: not one is judged to only read`, () => {
  assert.ok(BYPASSES.length >= 200 && new Set(BYPASSES).size === BYPASSES.length);
  for (const command of BYPASSES) assert.equal(isSafeCommand(command), false, JSON.stringify(command));
});

test('[ATK3] each of them needs an approval of its own, and without one nothing runs', async () => {
  const { asked, results } = await tryAll('build', 'ask');
  assert.equal(asked, BYPASSES.length);
  assertDenied(results);
});

test('[ATK3] plan mode refuses each of them in the Executor, without asking', async () => {
  const { asked, results } = await tryAll('plan', 'auto');
  assert.equal(asked, 0);
  assertDenied(results);
});
