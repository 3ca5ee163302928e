import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientError } from '../../src/client/rpc.ts';
import type { Change } from '../../src/client/session.ts';
import { call, finish, type ScriptStep, say, think } from '../../src/providers/script.ts';
import { type WorldOptions, world } from '../support/world.ts';
import { lines, live, mapStorage, settled, until } from './support.ts';

const failsWith = (reason: string) => (error: unknown) => error instanceof ClientError && error.reason === reason;

async function all<T>(changes: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const change of changes) seen.push(change);
  return seen;
}

const poking: WorldOptions = {
  script: [
    [...say('I poke. '), call('c1', 'poke', { text: 'x' }), finish()],
    [...say('Done.'), finish()],
  ],
  settings: { permissionCeiling: 'ask' },
};

/** Half a sentence, and the rest of it when the gate `go` is opened; then another Turn. */
function halting(): WorldOptions {
  const part = (text: string) => ({ type: 'delta' as const, kind: 'message' as const, text });
  const whole = { type: 'message' as const, text: 'Half a sentence.' };
  return {
    script: [
      [part('Half a '), { type: 'wait', gate: 'go' }, part('sentence.'), whole, finish()],
      [...say('More.'), finish()],
    ],
  };
}

test('[CLIENT1] a connection that drops costs a pause: the transcript goes on in mid-word and the prompt is answered', async () => {
  await using w = await world(halting());
  const { client, network, states } = live(() => w);
  const session = await client.newSession({ cwd: w.dir });
  const answer = session.prompt('hi');
  await until(w, 'half of it', () => lines(session).at(-1) === 'message: Half a ');
  assert.equal(session.running, true);
  for (const code of [1006, 1012, 4408, 4500]) {
    network.cut(code);
    await until(w, `lost with ${code}`, () => client.state.kind === 'reconnecting');
    await until(w, 'back', () => client.state.kind === 'live', 250);
  }
  w.provider.open('go');
  assert.deepEqual(await answer, { stopReason: 'end_turn' });
  assert.deepEqual(lines(session), ['user: hi', 'message: Half a sentence.']);
  assert.equal(session.running, false);
  assert.equal((await w.types(session.id)).filter((type) => type === 'turn_started').length, 1);
  assert.deepEqual(new Set(states), new Set(['catching_up', 'live', 'reconnecting']));
  client.close();
  assert.equal(client.state.kind, 'offline');
});

test('[CLIENT2] a prompt waits for a connection, one at a time, and can be taken back', async () => {
  await using w = await world(halting());
  const { client, network } = live(() => w);
  const session = await client.newSession({ cwd: w.dir });
  await until(w, 'live', () => client.state.kind === 'live');
  network.reachable = false;
  network.cut();
  const taken = session.prompt('never mind');
  assert.deepEqual(lines(session), ['user: never mind']);
  await assert.rejects(session.prompt('another'), failsWith('prompt_pending'));
  await settled();
  session.cancel();
  assert.deepEqual(await taken, { stopReason: 'cancelled' });
  assert.deepEqual(lines(session), []);

  const answer = session.prompt('now');
  network.reachable = true;
  w.provider.open('go');
  await until(w, 'back', () => client.state.kind === 'live', 250);
  assert.deepEqual(await answer, { stopReason: 'end_turn' });
  const asked = (await w.events(session.id)).filter(({ type }) => type === 'user_message');
  assert.equal(asked.length, 1, 'what was taken back never arrived');
  client.close();
});

test('[CLIENT3] a prompt survives the client: it is stored before it is sent, and the next life gets its answer', async () => {
  await using w = await world(halting());
  const storage = mapStorage();
  // As a page's storage may be: it takes its time.
  const setItem = async (key: string, value: string) => {
    await new Promise(setImmediate);
    storage.kept.set(key, value);
  };
  const first = live(() => w, { storage: { ...storage, setItem } });
  let storedWhenSent: string | undefined;
  first.network.tap = (direction, frame) => {
    if (direction === 'out' && frame.includes('session/prompt')) storedWhenSent = [...storage.kept.keys()].join();
    return true;
  };
  const session = await first.client.newSession({ cwd: w.dir });
  await until(w, 'live', () => first.client.state.kind === 'live');
  const answer = session.prompt('hi');
  await until(w, 'half of it', () => lines(session).length === 2);
  assert.match(storedWhenSent ?? '', /:prompt$/);
  first.client.close();
  await assert.rejects(answer, failsWith('closed'));
  await settled();
  w.provider.open('go');

  const second = live(() => w, { storage });
  const again = await second.client.session(session.id);
  assert.deepEqual(lines(again), ['user: hi', 'message: Half a '], 'what the first life showed, without a server');
  assert.deepEqual(await again.pending, { stopReason: 'end_turn' });
  await until(w, 'the rest', () => lines(again).at(-1) === 'message: Half a sentence.');
  assert.deepEqual(lines(again), ['user: hi', 'message: Half a sentence.']);
  second.client.close();

  const third = live(() => w, { storage });
  const idle = await third.client.session(session.id);
  assert.equal(idle.pending, undefined, 'an answered prompt is forgotten');
  assert.equal((await w.types(session.id)).filter((type) => type === 'turn_started').length, 1);
  third.client.close();
});

test('[CLIENT4] a decision made without a connection counts, and is asked for once', async () => {
  await using w = await world(poking);
  const { client, network } = live(() => w);
  const session = await client.newSession({ cwd: w.dir });
  const changes: Change['type'][] = [];
  void (async () => {
    for await (const { type } of session.changes()) changes.push(type);
  })();
  const answer = session.prompt('go');
  await until(w, 'the question', () => session.permissions.size === 1);
  network.cut();
  const [permissionId = ''] = session.permissions.keys();
  session.answer(permissionId, 'allow');
  session.answer(permissionId, 'reject');
  assert.equal(session.permissions.size, 0);
  await until(w, 'lost', () => client.state.kind === 'reconnecting');
  await until(w, 'back', () => client.state.kind === 'live', 250);
  assert.deepEqual(await answer, { stopReason: 'end_turn' });
  await settled();
  assert.equal(changes.filter((type) => type === 'permission').length, 1);
  assert.equal(changes.filter((type) => type === 'permission_settled').length, 1);
  const decisions = (await w.events(session.id)).filter(({ type }) => type === 'permission_decision');
  assert.deepEqual(
    decisions.map(({ data }) => (data as { decision: string }).decision),
    ['allow'],
  );
  client.close();
});

test('[CLIENT5] a permission that somebody else decided, before or while we were away, is settled', async () => {
  await using w = await world({ ...poking, script: [...(poking.script as []), ...(poking.script as [])] });
  const [ours, theirs] = [live(() => w), live(() => w)];
  const session = await ours.client.newSession({ cwd: w.dir });
  const other = await theirs.client.session(session.id);
  const asked = () => session.permissions.size === 1 && other.permissions.size === 1;
  await until(w, 'both there', () => ours.client.state.kind === 'live' && theirs.client.state.kind === 'live');
  for (const away of [false, true]) {
    const answer = session.prompt(`away: ${away}`);
    await until(w, 'both asked', asked);
    if (away) ours.network.cut();
    for (const id of other.permissions.keys()) other.answer(id, 'allow');
    await until(w, 'settled', () => session.permissions.size === 0, 250);
    assert.deepEqual(await answer, { stopReason: 'end_turn' });
  }
  assert.deepEqual(lines(session), lines(other));
  ours.client.close();
  theirs.client.close();
});

test('[CLIENT6] opened at its end, a Session is read backwards into the same transcript; what is written now is whole', async () => {
  const { script } = halting();
  await using w = await world({ script: [[...think('Hm.'), ...say('One.'), finish()], ...(script as [])] });
  const writer = live(() => w);
  const whole = await writer.client.newSession({ cwd: w.dir });
  await whole.prompt('first');
  const answer = whole.prompt('second');
  await until(w, 'half of it', () => lines(whole).at(-1) === 'message: Half a ');
  const reader = live(() => w);
  const session = await reader.client.session(whole.id, { from: 'end', role: 'observer' });
  await until(w, 'live', () => reader.client.state.kind === 'live');
  assert.deepEqual(lines(session), ['message: Half a '], 'from its first letter');
  assert.equal(session.running, true);
  w.provider.open('go');
  await answer;
  while (await session.older(2));
  await until(w, 'all of it', () => !session.running);
  assert.deepEqual(lines(session), lines(whole));
  assert.equal(await session.older(), false);
  writer.client.close();
  reader.client.close();
});

test('[CLIENT7] a cursor that fits no more is a reset: cleared, then everything, and the waiting prompt stays', async () => {
  await using w = await world({ script: [1, 2].map((n) => [...say(`Answer ${n}.`), finish()]) });
  const storage = mapStorage();
  const first = live(() => w, { storage });
  const session = await first.client.newSession({ cwd: w.dir });
  await session.prompt('hi');
  first.client.close();
  await settled();
  const [key = ''] = [...storage.kept.keys()];
  const kept = JSON.parse(storage.kept.get(key) ?? '');
  const transcript = { items: [{ type: 'message', id: 'x', text: 'of another time' }] };
  storage.kept.set(key, JSON.stringify({ ...kept, transcript, cursor: kept.cursor.replace(/p1\.\w+/, 'p1.abc') }));
  const second = live(() => w, { storage });
  const again = await second.client.session(session.id);
  const resets: unknown[] = [];
  void (async () => {
    for await (const change of again.changes()) if (change.type === 'reset') resets.push(change.reason);
  })();
  assert.deepEqual(await again.prompt('more'), { stopReason: 'end_turn' });
  assert.deepEqual(lines(again), ['user: hi', 'message: Answer 1.', 'user: more', 'message: Answer 2.']);
  await settled();
  assert.deepEqual(resets, ['epoch_changed']);
  second.client.close();
});

test('[CLIENT8] a full storage costs the next life a longer backfill, and a prompt that cannot be stored is not sent', async () => {
  await using w = await world(halting());
  const storage = mapStorage();
  let full = false;
  const setItem = (key: string, value: string) => {
    if (full) throw new Error('QuotaExceededError');
    storage.kept.set(key, value);
  };
  const { client } = live(() => w, { storage: { ...storage, setItem } });
  const session = await client.newSession({ cwd: w.dir });
  await until(w, 'live', () => client.state.kind === 'live');
  w.clock.advance(1_000);
  assert.equal(storage.kept.size, 1);
  full = true;
  await assert.rejects(session.prompt('hi'), /QuotaExceededError/);
  assert.deepEqual(lines(session), []);
  assert.deepEqual(await w.types(session.id), ['session_created']);
  client.close();
  await settled();
  assert.equal(storage.kept.size, 0, 'no place that is older than what was shown');
});

test('[CLIENT9] an unknown Session closes, and what was stored of it is forgotten', async () => {
  await using w = await world();
  const storage = mapStorage();
  storage.kept.set('pixir:nobody', JSON.stringify({ cursor: 'x', transcript: { items: [] }, before: null }));
  const { client } = live(() => w, { storage });
  const session = await client.session('nobody');
  const [change] = await all(session.changes());
  assert.deepEqual(change?.type === 'closed' && [change.error.reason, change.error.code], ['error_response', -32002]);
  await assert.rejects(session.prompt('hi'), failsWith('closed'));
  await settled();
  assert.equal(storage.kept.size, 0);
  assert.equal(client.state.kind, 'live', 'the others are not held up');
  client.close();
});

test('[CLIENT10] a cancel in mid-Turn ends it, with a connection or with the next one', async () => {
  const [half = []] = halting().script as ScriptStep[][];
  await using w = await world({ script: [half, half] });
  const { client, network } = live(() => w);
  const session = await client.newSession({ cwd: w.dir });
  for (const connected of [true, false]) {
    const answer = session.prompt(`connected: ${connected}`);
    await until(w, 'half of it', () => lines(session).at(-1) === 'message: Half a ');
    if (!connected) {
      network.cut();
      await until(w, 'lost', () => client.state.kind === 'reconnecting');
    }
    session.cancel();
    await until(w, 'back', () => client.state.kind === 'live', 250);
    assert.deepEqual(await answer, { stopReason: 'cancelled' });
  }
  assert.equal((await w.types(session.id)).filter((type) => type === 'turn_finished').length, 2);
  client.close();
});

test('[CLIENT11] closed, a Session is let go of: its changes end and nothing more is heard', async () => {
  await using w = await world(halting());
  const { client } = live(() => w);
  const session = await client.newSession({ cwd: w.dir });
  const answer = session.prompt('hi');
  await until(w, 'half of it', () => lines(session).length === 2);
  const seen = all(session.changes());
  session.close();
  await assert.rejects(answer, failsWith('closed'));
  w.provider.open('go');
  await settled();
  assert.deepEqual(
    (await seen).map(({ type }) => type),
    ['closed'],
  );
  assert.deepEqual(lines(session), ['user: hi', 'message: Half a ']);
  const again = await client.session(session.id);
  await until(w, 'whole', () => lines(again).at(-1) === 'message: Half a sentence.');
  assert.notEqual(again, session);
  client.close();
});

test('[CLIENT14] a prompt of ours that comes back after a reconnect is shown once, in its place in the Log', async () => {
  await using w = await world({ script: ['Theirs.', 'Ours.'].map((text) => [...say(text), finish()]) });
  const [ours, theirs] = [live(() => w), live(() => w)];
  const session = await ours.client.newSession({ cwd: w.dir });
  const other = await theirs.client.session(session.id);
  await until(w, 'both there', () => ours.client.state.kind === 'live' && theirs.client.state.kind === 'live');
  ours.network.reachable = false;
  ours.network.cut();
  const answer = session.prompt('from us');
  await other.prompt('from them');
  // The prompt arrives, and nothing that follows it does.
  let deaf = false;
  ours.network.tap = (direction, frame) => {
    deaf ||= direction === 'in' && frame.includes('_pixir/session/state');
    return !deaf;
  };
  ours.network.reachable = true;
  await until(w, 'their end', () => lines(other).at(-1) === 'message: Ours.', 250);
  ours.network.tap = () => true;
  ours.network.cut();
  await until(w, 'back', () => lines(session).length === 4, 250);
  assert.deepEqual(await answer, { stopReason: 'end_turn' });
  assert.deepEqual(lines(session), ['user: from them', 'message: Theirs.', 'user: from us', 'message: Ours.']);
  assert.deepEqual(lines(other), lines(session));
  ours.client.close();
  theirs.client.close();
});
