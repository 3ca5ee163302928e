/** What the runtime lets anybody use: never more, never less, and nothing else hidden by it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { interrupt, type Prompt, send, stopAll } from '../../src/core/conversation.ts';
import { CoreError } from '../../src/core/errors.ts';
import { newId } from '../../src/core/event.ts';
import { start } from '../../src/core/lifecycle.ts';
import { LOCAL, type Principal } from '../../src/core/principal.ts';
import { finish, say } from '../../src/providers/script.ts';
import type { Script } from '../../src/providers/scripted.ts';
import { unlessAborted } from '../../src/providers/wait.ts';
import { memoryLog } from '../../src/store/memory-log.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { seeded } from '../support/seeded.ts';
import { type World, world } from '../support/world.ts';

const NIGHTLY = process.env.PIXIR_NIGHTLY === '1';
const ADA: Principal = { ...LOCAL, name: 'ada', owner: 'ada' };
const BOB: Principal = { ...LOCAL, name: 'bob', owner: 'bob' };

/** The prompt says how its Turn goes. */
const obeying: Script = async function* ({ history }, signal) {
  const prompt =
    JSON.stringify(history)
      .match(/"text":"(go|hang|fail)"/g)
      ?.at(-1) ?? '';
  if (prompt.includes('hang')) await unlessAborted(new Promise(() => {}), signal);
  if (prompt.includes('fail')) throw new CoreError('network', 'no network');
  yield* say('Done.');
  yield finish();
};

const fails = (code: string) => (error: unknown) => error instanceof CoreError && error.code === code;
const full = () => new CoreError('log_write_failed', 'the disk is full');

function limited(limit: string, max?: number) {
  return (error: unknown) => {
    assert.ok(error instanceof CoreError, String(error));
    assert.deepEqual([error.code, error.details], ['limit_exceeded', max === undefined ? { limit } : { limit, max }]);
    return true;
  };
}

const begin = async (w: World, who: Principal) => (await start(w.runtime, who, { workspace: w.dir })).id;

function prompt(w: World, who: Principal, sessionId: string, text: string, extra: Partial<Prompt> = {}) {
  const content = [{ type: 'text' as const, text }];
  return send(w.runtime, who, { sessionId, turnId: newId('turn'), messageId: newId('usr'), content, ...extra });
}

/** Runs a Turn to its end. */
async function turn(w: World, who: Principal, sessionId: string, text: string, extra?: Partial<Prompt>) {
  return (await prompt(w, who, sessionId, text, extra)).done;
}

test('[LIMIT1] Sessions are limited by owner and in all, and those from before a restart count', async () => {
  const limits = { sessions: 3, sessionsPerOwner: 2 };
  await using first = await world({ limits });
  await begin(first, ADA);
  await begin(first, ADA);
  await assert.rejects(begin(first, ADA), limited('sessions_per_owner', 2));
  await begin(first, BOB);
  await assert.rejects(begin(first, BOB), limited('sessions', 3));
  assert.equal(await first.log.count(), 3);
  await using second = await first.restart();
  await assert.rejects(begin(second, ADA), limited('sessions_per_owner', 2));
  await assert.rejects(begin(second, BOB), limited('sessions', 3));
});

test('[LIMIT1] of any number that want the last places as many get them as there are, however slow the Log is', async () => {
  const memory = memoryLog(fakeClock());
  const slow = async (owner?: string) => {
    const counted = await memory.count(owner);
    for (let n = 0; n < 5; n++) await setImmediate();
    return counted;
  };
  for (const log of [memoryLog(fakeClock()), { ...memory, count: slow }]) {
    await using w = await world({ log, limits: { sessions: 12, sessionsPerOwner: 8 } });
    for (const [who, places] of [
      [ADA, 8],
      [BOB, 4],
    ] as const) {
      const waves = [1, 4, 20].map(async (starts, wave) => {
        for (let n = 0; n < 3 * wave; n++) await setImmediate();
        return Promise.allSettled(Array.from({ length: starts }, () => begin(w, who)));
      });
      const begun = (await Promise.all(waves)).flat().filter(({ status }) => status === 'fulfilled');
      assert.deepEqual([begun.length, await w.log.count(who.owner)], [places, places]);
    }
  }
});

test('[LIMIT1] a Session that could not be recorded, or counted, takes no place', async () => {
  const memory = memoryLog(fakeClock());
  let broken = true;
  const count = async (owner?: string) => {
    if (broken) throw full();
    return memory.count(owner);
  };
  await using w = await world({ log: { ...memory, count }, limits: { sessionsPerOwner: 1 } });
  await assert.rejects(begin(w, ADA), fails('log_write_failed'));
  broken = false;
  for (let n = 0; n < 3; n++) {
    w.log.failNext(full());
    await assert.rejects(begin(w, ADA), fails('log_write_failed'));
  }
  await begin(w, ADA);
  await assert.rejects(begin(w, ADA), limited('sessions_per_owner', 1));
});

test('[LIMIT2] running Turns are limited by owner and in all', async () => {
  await using w = await world({ script: obeying, limits: { runningTurns: 3, runningTurnsPerOwner: 2 } });
  const [a1, a2, a3] = [await begin(w, ADA), await begin(w, ADA), await begin(w, ADA)];
  const [b1, b2] = [await begin(w, BOB), await begin(w, BOB)];
  await prompt(w, ADA, a1, 'hang');
  await prompt(w, ADA, a2, 'hang');
  const before = await w.events(a3);
  await assert.rejects(prompt(w, ADA, a3, 'go'), limited('running_turns_per_owner', 2));
  await prompt(w, BOB, b1, 'hang');
  await assert.rejects(prompt(w, BOB, b2, 'go'), limited('running_turns', 3));
  assert.deepEqual(await w.events(a3), before);
  await interrupt(w.runtime, ADA, a1);
  assert.equal((await turn(w, ADA, a3, 'go')).stopReason, 'end_turn');
  assert.equal((await turn(w, BOB, b2, 'go')).stopReason, 'end_turn');
  await stopAll(w.runtime, 'interrupt');
});

const MAX = { runningTurns: 3, runningTurnsPerOwner: 2 };

/** Whatever has happened before: exactly as many Turns run at once as the limits say. */
async function assertAllPlacesFree(w: World, sessions: readonly (readonly [Principal, string])[]): Promise<void> {
  const settled = await Promise.allSettled(sessions.map(([who, id]) => prompt(w, who, id, 'hang')));
  assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, MAX.runningTurns);
  await stopAll(w.runtime, 'interrupt');
}

const RUNS = NIGHTLY ? 400 : 25;

test(`[LIMIT2] ${RUNS} random histories: however Turns begin and end, no place is lost, used twice or left over`, async () => {
  const random = seeded('places of Turns');
  for (let run = 0; run < RUNS; run++) {
    await using w = await world({ script: obeying, limits: MAX });
    const owners = [ADA, ADA, ADA, BOB, BOB, BOB];
    const sessions = await Promise.all(owners.map(async (who) => [who, await begin(w, who)] as const));
    const steps = Array.from({ length: 40 }, async (_, at) => {
      for (let n = 0; n < at; n++) await setImmediate();
      const [who, id] = sessions[Math.floor(random() * sessions.length)] ?? [ADA, ''];
      const dice = random();
      if (dice < 0.1) w.log.failNext(full());
      else if (dice < 0.3) await interrupt(w.runtime, who, id);
      else await turn(w, who, id, dice < 0.6 ? 'hang' : dice < 0.7 ? 'fail' : 'go');
      const running = (await w.runtime.sessions.all()).filter(({ phase }) => phase.kind === 'running');
      assert.ok(running.length <= MAX.runningTurns);
      for (const { owner } of [ADA, BOB])
        assert.ok(running.filter(({ state }) => state.owner === owner).length <= MAX.runningTurnsPerOwner);
    });
    let over = false;
    const settled = Promise.allSettled(steps).finally(() => {
      over = true;
    });
    for (let at = 0; !over; at++) {
      await setImmediate();
      if (at > 60) await stopAll(w.runtime, 'interrupt');
    }
    for (const result of await settled) {
      const code = result.status === 'rejected' ? result.reason.code : undefined;
      assert.ok([undefined, 'limit_exceeded', 'turn_in_progress', 'log_write_failed'].includes(code), String(code));
    }
    w.errors.length = 0;
    // A failure that nobody has met yet would meet what follows.
    await begin(w, ADA).catch(() => undefined);
    await assertAllPlacesFree(w, sessions);
    await assertAllPlacesFree(w, sessions);
  }
});

test('[LIMIT2] a Turn whose end cannot be recorded gives its place back', async () => {
  await using w = await world({ script: obeying, limits: { runningTurns: 1 } });
  const [stuck, next] = [await begin(w, ADA), await begin(w, ADA)];
  const { done } = await prompt(w, ADA, stuck, 'hang');
  w.log.failAll(full());
  const end = assert.rejects(done, fails('log_write_failed'));
  await assert.rejects(interrupt(w.runtime, ADA, stuck), fails('log_write_failed'));
  await end;
  w.log.failAll(undefined);
  w.errors.length = 0;
  await turn(w, ADA, next, 'go');
});

test('[LIMIT3] what is known, running, unknown or wrong is answered as ever when every limit is reached', async () => {
  let hasRoom = true;
  const limits = { runningTurns: 1, sessions: 2 };
  await using w = await world({ script: obeying, limits, hasRoom: async () => hasRoom });
  const [idle, busy] = [await begin(w, ADA), await begin(w, ADA)];
  const end = await turn(w, ADA, idle, 'go', { promptKey: 'k1' });
  const running = await prompt(w, ADA, busy, 'hang', { promptKey: 'k2' });
  hasRoom = false;
  await assert.rejects(prompt(w, ADA, idle, 'more'), limited('running_turns', 1));
  assert.deepEqual(await turn(w, ADA, idle, 'go', { promptKey: 'k1' }), end);
  assert.equal((await prompt(w, ADA, busy, 'hang', { promptKey: 'k2' })).turnId, running.turnId);
  await assert.rejects(prompt(w, ADA, idle, 'other', { promptKey: 'k1' }), fails('invalid_params'));
  await assert.rejects(prompt(w, ADA, busy, 'more'), fails('turn_in_progress'));
  await assert.rejects(prompt(w, BOB, busy, 'more'), fails('unknown_session'));
  await assert.rejects(prompt(w, ADA, idle, 'more', { model: 'none' }), fails('unsupported_value'));
  await assert.rejects(start(w.runtime, ADA, { workspace: `${w.dir}/none` }), fails('invalid_params'));
  await assert.rejects(start(w.runtime, { ...ADA, scopes: [] }, { workspace: w.dir }), fails('forbidden'));
  await assert.rejects(begin(w, ADA), limited('sessions', 2));
  await stopAll(w.runtime, 'interrupt');
});

test('[LIMIT3] Turns that a restart continues are not refused, and count', async () => {
  const settings = { recovery: 'resume' as const };
  await using first = await world({ script: obeying, settings });
  const [one, two, three] = [await begin(first, ADA), await begin(first, ADA), await begin(first, ADA)];
  for (const id of [one, two]) await prompt(first, ADA, id, 'hang');
  await stopAll(first.runtime, 'suspend');
  await using second = await first.restart({ script: obeying, settings, limits: { runningTurns: 1 } });
  assert.deepEqual(
    (await second.runtime.sessions.all()).map(({ phase }) => phase.kind),
    ['running', 'running'],
  );
  await assert.rejects(prompt(second, ADA, three, 'go'), limited('running_turns', 1));
  await interrupt(second.runtime, ADA, one);
  await assert.rejects(prompt(second, ADA, three, 'go'), limited('running_turns', 1));
  await interrupt(second.runtime, ADA, two);
  await turn(second, ADA, three, 'go');
});

test('[LIMIT4] without room on the disk no prompt is taken, and the Turn that runs comes to its end', async () => {
  let hasRoom = true;
  await using w = await world({
    script: [[{ type: 'wait', gate: 'go' }, ...say('Done.'), finish()]],
    hasRoom: async () => hasRoom,
  });
  const [busy, idle] = [await begin(w, ADA), await begin(w, ADA)];
  const { done } = await prompt(w, ADA, busy, 'x');
  hasRoom = false;
  const before = await w.events(idle);
  await assert.rejects(prompt(w, ADA, idle, 'x'), limited('free_disk'));
  assert.deepEqual(await w.events(idle), before);
  w.provider.open('go');
  assert.equal((await done).stopReason, 'end_turn');
  hasRoom = true;
  await turn(w, ADA, idle, 'x');
});
