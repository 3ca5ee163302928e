/** Mistakes that others made with cursors, replay and limits, one test for each that no other rule covers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Log } from '../../src/core/log.ts';
import { finish, say } from '../../src/providers/script.ts';
import { memoryLog } from '../../src/store/memory-log.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { Follower } from '../support/follower.ts';
import type { Frame } from '../support/schema.ts';
import type { WireClient } from '../support/wire-client.ts';
import { type World, world } from '../support/world.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const settled = () => new Promise(setImmediate);
const withCursors = { _meta: { pixir: { cursor: 1 } } };
const cursorOf = ({ params }: Frame) => (params?._meta as { pixir?: { cursor?: string } })?.pixir?.cursor;
const messages = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ type: 'message' as const, text: `${n};` }));
const pieces = (count: number) =>
  Array.from({ length: count }, () => ({ type: 'delta' as const, kind: 'message' as const, text: 'x' }));

async function cursorClient(w: World): Promise<WireClient> {
  const { client } = w.connect();
  await client.initialize(withCursors);
  return client;
}

test('[TRAP1] the Log grows with what was said, not with the pieces it came in', async () => {
  const text = 'x'.repeat(2_000);
  const rows = async (count: number) => {
    const answer = [...pieces(count), { type: 'message' as const, text }, finish()];
    await using w = await world({ script: [answer] });
    const client = await w.client();
    const sessionId = await client.newSession(w.dir);
    await client.prompt(sessionId, 'go');
    return (await w.events(sessionId)).map(({ type }) => type);
  };
  assert.deepEqual(await rows(2_000), await rows(0));
});

test('[TRAP2] a clock that goes back by a day changes no order, and no cursor', async () => {
  await using w = await world({ script: ['one. ', 'two. ', 'three. '].map((text) => [...say(text), finish()]) });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  await client.prompt(sessionId, '1');
  const follower = new Follower(sessionId);
  const early = await cursorClient(w);
  early.onFrame = (frame) => follower.apply(frame);
  await follower.attach(early);
  await early.frame(({ method }) => method === '_pixir/session/caught_up');
  early.close();
  for (const prompt of ['2', '3']) {
    w.clock.advance(-DAY_MS);
    await client.prompt(sessionId, prompt);
  }
  const later = await cursorClient(w);
  later.onFrame = (frame) => follower.apply(frame);
  assert.equal((await follower.attach(later)).mode, 'backfill');
  await later.frame(({ method }) => method === '_pixir/session/caught_up');
  assert.equal(later.text(), 'two. three. ');
  const loader = await w.client();
  await loader.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  assert.equal(loader.text(), 'one. two. three. ');
});

test('[TRAP3] what is committed while an attach reads the past is neither lost nor doubled', async () => {
  const reading = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  let held = false;
  const memory = memoryLog(fakeClock());
  const log: Log = {
    ...memory,
    async read(sessionId, after, limit) {
      const page = await memory.read(sessionId, after, limit);
      if (held) {
        reading.resolve();
        await go.promise;
      }
      return page;
    },
  };
  // More than is kept in memory, so that the past has to be read from the Log.
  await using w = await world({
    log,
    script: [
      [...messages(600), finish()],
      [...say('Live now.'), finish()],
    ],
  });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  await client.prompt(sessionId, 'go');
  held = true;
  const follower = new Follower(sessionId);
  const reader = await cursorClient(w);
  reader.onFrame = (frame) => follower.apply(frame);
  await follower.attach(reader);
  await reading.promise;
  await client.prompt(sessionId, 'and?');
  go.resolve();
  await reader.frame(({ method }) => method === '_pixir/session/caught_up');
  assert.equal(reader.text(), client.text());
  assert.equal(reader.frames.at(-1)?.method, '_pixir/session/caught_up');
});

test('[TRAP4] coming back costs what is new: one update after hours, none after nothing', async () => {
  await using w = await world({
    script: [
      [...messages(500), finish()],
      [{ type: 'message', text: 'New.' }, finish()],
    ],
  });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  await client.prompt(sessionId, 'go');
  const follower = new Follower(sessionId);
  const comeBack = async () => {
    const reader = await cursorClient(w);
    reader.onFrame = (frame) => follower.apply(frame);
    await follower.attach(reader);
    await reader.frame(({ method }) => method === '_pixir/session/caught_up');
    reader.close();
    return reader.updates().map(({ content }) => (content as { text: string }).text);
  };
  assert.equal((await comeBack()).length, 501);
  assert.deepEqual(await comeBack(), []);
  assert.deepEqual(await comeBack(), []);
  await client.prompt(sessionId, 'more');
  assert.deepEqual(await comeBack(), ['more', 'New.']);
  assert.deepEqual(await comeBack(), []);
});

test('[TRAP5] limits count bytes: ten thousand tiny frames, either way, end no connection', async () => {
  await using w = await world({
    script: [[...pieces(10_000), { type: 'message', text: 'x'.repeat(10_000) }, finish()]],
  });
  const { client, ...wire } = w.connect();
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  for (let n = 0; n < 10_000; n++) client.notify('$/cancel_request', { requestId: 'nothing' });
  wire.pause();
  const prompt = client.prompt(sessionId, 'go');
  await settled();
  w.clock.advance(29_999);
  wire.resume();
  assert.deepEqual(await prompt, { stopReason: 'end_turn' });
  assert.equal(client.text().length, 10_000);
  assert.equal(wire.closedWith(), undefined);
});

test('[TRAP6] only the last update of an Event moves the cursor: a cut before it loses nothing', async () => {
  await using w = await world();
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  const reader = await cursorClient(w);
  const { head } = await reader.request('_pixir/session/attach', { sessionId });
  await client.request('session/set_mode', { sessionId, modeId: 'plan' });
  await reader.update(({ sessionUpdate }) => sessionUpdate === 'config_option_update');
  const updates = reader.frames.filter(({ method }) => method === 'session/update');
  assert.deepEqual(
    updates.map((frame) => cursorOf(frame) !== undefined),
    [false, false, true],
    'the commands, the mode, the options',
  );
  const back = await cursorClient(w);
  await back.request('_pixir/session/attach', { sessionId, cursor: head });
  await back.update(({ sessionUpdate }) => sessionUpdate === 'config_option_update');
  assert.deepEqual(back.updates(), reader.updates());
});
