import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change } from '../../src/client/session.ts';
import { call, finish, say, think } from '../../src/providers/script.ts';
import { type WorldOptions, world } from '../support/world.ts';
import { failsWith, halting, lines, live, mapStorage, settled, until } from './support.ts';

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
  await settled();
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

test('[CLIENT9] a Session that is deleted closes in mid-Turn, its prompt is answered, and it is forgotten', async () => {
  await using w = await world(halting());
  const storage = mapStorage();
  const { client } = live(() => w, { storage });
  const session = await client.newSession({ cwd: w.dir });
  const changes = all(session.changes());
  const answer = session.prompt('hi');
  await until(w, 'half of it', () => lines(session).length === 2);
  await client.request('session/delete', { sessionId: session.id });
  assert.deepEqual(await answer, { stopReason: 'cancelled' });
  const last = (await changes).at(-1);
  assert.equal(last?.type === 'closed' && last.error.reason, 'closed');
  await settled();
  assert.deepEqual([...storage.kept.keys()], []);
  await assert.rejects(session.prompt('again'), failsWith('closed'));
  assert.equal(client.state.kind, 'live');
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
