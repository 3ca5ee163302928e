/** Being told of the list of Sessions: when, of what, and of what never. */
import assert from 'node:assert/strict';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { SessionsChanged } from '../../src/acp/wire.ts';
import { setDirectories, setTitle, start } from '../../src/core/lifecycle.ts';
import { LOCAL, type Principal } from '../../src/core/principal.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { memoryLog } from '../../src/store/memory-log.ts';
import { MALLORY } from '../attack/calls.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { sendText } from '../support/send.ts';
import type { WireClient } from '../support/wire-client.ts';
import { type World, world } from '../support/world.ts';

/** Long enough for what is on its way in memory. */
async function settled() {
  for (let turns = 0; turns < 8; turns++) await new Promise(setImmediate);
}

/** What the client is told from now on. */
async function watch(client: WireClient) {
  await client.request('_pixir/sessions/watch');
  let seen = client.frames.length;
  return (): SessionsChanged[] => {
    const fresh = client.frames.slice(seen);
    seen = client.frames.length;
    return fresh.flatMap(({ method, params }) =>
      method === '_pixir/sessions/changed' ? [params as unknown as SessionsChanged] : [],
    );
  };
}

/** Lets what is due be told. */
async function passTime(w: World, ms = 250) {
  await settled();
  w.clock.advance(ms);
  await settled();
}

const brief = (told: SessionsChanged[]) =>
  told.flatMap(({ sessions }) =>
    sessions.map(({ title = '', _meta: { pixir } }) => [pixir.state, pixir.waiting, pixir.outcome, title].join(' ')),
  );

test("[DIR3] a watcher sees another connection's Turn run, wait, run and end, its titles, forks and deletions", async () => {
  const script = [
    [{ type: 'wait' as const, gate: 'a' }, call('c1', 'poke', { text: 'x' }), finish()],
    [{ type: 'wait' as const, gate: 'b' }, ...say('Done.'), finish()],
  ];
  await using w = await world({ script, settings: { permissionCeiling: 'ask', permissionTimeoutMs: 2 ** 30 } });
  const client = await w.client();
  const next = await watch(await w.client());
  const told: string[] = [];
  const until = async (line: string) => {
    do {
      await passTime(w);
      told.push(...brief(next()));
    } while (told.at(-1) !== line);
  };
  const sessionId = await client.newSession(w.dir);
  await until('idle 0  ');
  const prompt = client.prompt(sessionId, 'go');
  await until('running 0  ');
  w.provider.open('a');
  const { id } = await client.frame(({ method }) => method === 'session/request_permission');
  await until('running 1  ');
  client.raw({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'allow' } } });
  await until('running 0  ');
  w.provider.open('b');
  await prompt;
  await until('idle 0 completed go');
  await client.request('session/set_title', { sessionId, title: 'Mine' });
  await until('idle 0 completed Mine');
  const steps = told.filter((line, index) => line !== told[index - 1]);
  assert.equal(steps.length, 6, steps.join('; '));

  const { sessionId: forked } = await client.request('session/fork', { sessionId, cwd: w.dir });
  await passTime(w);
  const { sessions } = await client.request('session/list');
  const [line] = sessions as unknown[];
  assert.deepEqual(next(), [{ sessions: [line], removed: [] }], 'as the list gives it');
  assert.equal((line as { sessionId: string }).sessionId, forked);
  await client.request('session/delete', { sessionId });
  await passTime(w);
  assert.deepEqual(next(), [{ sessions: [], removed: [sessionId] }]);
});

test('[DIR3] 1,000 changes of 10 Sessions in a second are at most 5 notifications, and the last of them is told', async () => {
  await using w = await world();
  const next = await watch(await w.client());
  const ids: string[] = [];
  for (let n = 0; n < 10; n++) ids.push((await start(w.runtime, LOCAL, { workspace: w.dir })).id);
  await passTime(w);
  next();
  for (let n = 0; n < 1_000; n++) {
    await setTitle(w.runtime, LOCAL, ids[n % 10] ?? '', `${n}`);
    w.clock.advance(1);
  }
  await settled();
  const told = next();
  assert.ok(told.length >= 2 && told.length <= 5, `${told.length}`);
  await passTime(w);
  const last = new Map([...told, ...next()].flatMap(({ sessions }) => sessions.map((line) => [line.sessionId, line])));
  const { sessions } = await (await w.client()).request('session/list');
  assert.deepEqual(new Set(last.values()), new Set(sessions as never[]));
});

test('[DIR3] more lines than a page of the list has come one page at a time', async () => {
  await using w = await world();
  const client = await w.client();
  const ids = await Promise.all(Array.from({ length: 120 }, () => start(w.runtime, LOCAL, { workspace: w.dir })));
  const next = await watch(client);
  await Promise.all(ids.map(({ id }) => setTitle(w.runtime, LOCAL, id, 'x')));
  for (let n = 0; n < 4; n++) await passTime(w);
  const told = next();
  assert.ok(told.every(({ sessions }) => sessions.length <= 50));
  assert.equal(new Set(told.flatMap(({ sessions }) => sessions.map(({ sessionId }) => sessionId))).size, 120);
});

test('[DIR4] a client that does not read is told nothing, and once when it reads again', async () => {
  const message = { type: 'message' as const, text: 'x'.repeat(2 ** 20) };
  await using w = await world({ script: [[{ type: 'wait', gate: 'go' }, message, finish()]] });
  const connection = w.connect();
  await connection.client.initialize();
  const next = await watch(connection.client);
  const sessionId = await connection.client.newSession(w.dir);
  await passTime(w);
  next();
  const { done } = await sendText(w, sessionId, 'go');
  await passTime(w);
  next();
  connection.pause();
  w.provider.open('go');
  await done;
  await passTime(w);
  const waiting = connection.waiting();
  assert.ok(waiting > 2 ** 20);
  for (const title of ['one', 'two', 'three']) {
    await setTitle(w.runtime, LOCAL, sessionId, title);
    await passTime(w);
  }
  assert.equal(connection.waiting(), waiting);
  connection.resume();
  await passTime(w);
  assert.deepEqual(brief(next()), ['idle 0 completed three']);
});

test('[DIR4] with nobody watching, and when who watched has left, no row is read', async () => {
  const inner = memoryLog(fakeClock());
  let reads = 0;
  const session = (id: string) => {
    reads++;
    return inner.session(id);
  };
  await using w = await world({ log: { ...inner, session } });
  const { id } = await start(w.runtime, LOCAL, { workspace: w.dir });
  const cost = async () => {
    const before = reads;
    await setTitle(w.runtime, LOCAL, id, 'x');
    await passTime(w);
    return reads - before;
  };
  const alone = await cost();
  const client = await w.client();
  await watch(client);
  assert.equal(await cost(), alone + 1);
  client.close();
  assert.equal(await cost(), alone);
});

test('[DIR5] nobody is told of what is out of their reach, neither its changes nor its end', async () => {
  await using w = await world({ script: [[...say('Hello.'), finish()]] });
  for (const name of ['mine', 'theirs']) await mkdir(join(w.dir, name));
  const [mine, theirs] = await Promise.all(['mine', 'theirs'].map((name) => realpath(join(w.dir, name))));
  const limited: Principal = { ...LOCAL, name: 'phone', workspaces: [mine ?? ''] };
  const owner = await w.client();
  const [stranger, phone] = [await watch(await w.client(MALLORY)), await watch(await w.client(limited))];
  const elsewhere = await owner.newSession(theirs ?? '');
  await owner.prompt(elsewhere, 'hello');
  await passTime(w);
  await owner.request('session/fork', { sessionId: elsewhere, cwd: theirs });
  await passTime(w);
  await owner.request('session/delete', { sessionId: elsewhere });
  await passTime(w);
  assert.deepEqual([stranger(), phone()], [[], []]);

  const sessionId = await owner.newSession(mine ?? '');
  await passTime(w);
  assert.equal(phone().length, 1);
  await setDirectories(w.runtime, LOCAL, sessionId, [theirs ?? '']);
  await passTime(w);
  await owner.request('session/delete', { sessionId });
  await passTime(w);
  assert.deepEqual([stranger(), phone()], [[], []], 'with a root elsewhere it is none of its business');

  await (await w.client(MALLORY)).newSession(w.dir);
  await passTime(w);
  assert.deepEqual([stranger().length, phone().length], [1, 0]);
});
