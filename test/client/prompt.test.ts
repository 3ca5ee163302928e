import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finish, type ScriptStep, say } from '../../src/providers/script.ts';
import { world } from '../support/world.ts';
import { failsWith, halting, lines, live, mapStorage, settled, until } from './support.ts';

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
    if (direction === 'out' && frame.includes('session/prompt')) storedWhenSent ??= [...storage.kept.keys()].join();
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

test('[CLIENT3] a place that was stored while a prompt waited shows it no more when it does not', async () => {
  await using w = await world(halting());
  const storage = mapStorage();
  const first = live(() => w, { storage });
  const session = await first.client.newSession({ cwd: w.dir });
  await until(w, 'live', () => first.client.state.kind === 'live');
  first.network.reachable = false;
  first.network.cut();
  const taken = session.prompt('never mind');
  w.clock.advance(1_000);
  const old = new Map(storage.kept);
  session.cancel();
  await taken;
  for (const [key, value] of old) if (!key.endsWith(':prompt')) storage.kept.set(key, value);
  const second = live(() => w, { storage: { ...storage, setItem: () => {} } });
  assert.deepEqual(lines(await second.client.session(session.id)), []);
  first.client.close();
  second.client.close();
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

test('[CLIENT3] let go of and taken up again at once, a refused prompt is not found in a storage that takes its time', async () => {
  await using w = await world(halting());
  const storage = mapStorage();
  const late = () => new Promise((resolve) => setImmediate(resolve));
  const slow = {
    getItem: async (key: string) => storage.getItem(key),
    setItem: async (key: string, value: string) => storage.setItem(key, value),
    removeItem: async (key: string) => {
      for (let turn = 0; turn < 5; turn++) await late();
      await storage.removeItem(key);
    },
  };
  const [first, second] = [live(() => w, { storage: slow }), live(() => w)];
  const session = await first.client.newSession({ cwd: w.dir });
  const other = await second.client.session(session.id);
  await until(w, 'both there', () => first.client.state.kind === 'live' && second.client.state.kind === 'live');
  const answer = other.prompt('theirs');
  await until(w, 'it runs', () => lines(other).length === 2);
  const refused = session.prompt('ours');
  await until(w, 'refused', () => session.pending === undefined);
  session.close();
  const again = await first.client.session(session.id);
  assert.equal(again.pending, undefined);
  await assert.rejects(refused, failsWith('error_response'));
  w.provider.open('go');
  await answer;
  assert.equal((await w.types(session.id)).filter((type) => type === 'turn_started').length, 1);
  first.client.close();
  second.client.close();
});

test("[CLIENT15] a prompt with a key of one's own, given to two clients, runs once and each shows it once", async () => {
  await using w = await world(halting());
  const [first, second] = [live(() => w), live(() => w)];
  const session = await first.client.newSession({ cwd: w.dir });
  const other = await second.client.session(session.id);
  await until(w, 'both there', () => first.client.state.kind === 'live' && second.client.state.kind === 'live');
  const meta = { pixir: { promptKey: 'queued-long-ago' } };
  const answer = session.prompt('hi', meta);
  await until(w, 'it runs', () => lines(other).length === 2);
  const again = other.prompt('hi', meta);
  await settled();
  w.provider.open('go');
  assert.deepEqual(await Promise.all([answer, again]), [{ stopReason: 'end_turn' }, { stopReason: 'end_turn' }]);
  for (const shown of [session, other]) {
    await until(w, 'all of it', () => lines(shown).at(-1) === 'message: Half a sentence.');
    assert.deepEqual(lines(shown), ['user: hi', 'message: Half a sentence.']);
  }
  assert.equal((await w.types(session.id)).filter((type) => type === 'turn_started').length, 1);
  first.client.close();
  second.client.close();
});
