import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBus } from '../../src/core/bus.ts';
import type { Tool } from '../../src/core/tool.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { note } from '../support/tools.ts';
import type { WireClient } from '../support/wire-client.ts';
import { type World, world } from '../support/world.ts';

const MIB = 1024 * 1024;

const textIn = (content: unknown) => (content as [{ content: { text: string } }])[0].content.text;

/** Two clients of one Session, of which one has stopped reading. */
async function quickAndSlow(w: World) {
  const quick = await w.client();
  const sessionId = await quick.newSession(w.dir);
  const slow = w.connect();
  await slow.client.initialize();
  await slow.client.request('session/resume', { sessionId, cwd: w.dir });
  slow.pause();
  return { quick, slow, sessionId };
}

/** 4 MB of text in messages of 100 kB. */
function manyAnswers() {
  return Array.from({ length: 40 }, (_, n) => ({ type: 'message' as const, text: `${n}:${'x'.repeat(100_000)};` }));
}

test('[FEED1] a slow client holds up nobody, costs bounded memory, and misses nothing', async () => {
  const answers = manyAnswers();
  await using w = await world({
    script: [
      [...answers, finish()],
      [...say('And on.'), finish()],
    ],
  });
  const { quick, slow, sessionId } = await quickAndSlow(w);
  await quick.prompt(sessionId, 'go');
  assert.equal(
    quick.text().length,
    answers.reduce((sum, { text }) => sum + text.length, 0),
  );
  assert.ok(slow.waiting() > MIB / 2, 'it was being sent to');
  assert.ok(slow.waiting() < 1.2 * MIB, `${slow.waiting()} bytes wait for it`);
  await quick.prompt(sessionId, 'and?');
  while (slow.client.text() !== quick.text()) {
    slow.resume();
    await new Promise(setImmediate);
    slow.pause();
  }
  slow.resume();
});

test('[FEED1] above 1 MiB unsent a client is sent nothing more, until less than 256 KiB are left', async () => {
  await using w = await world({
    script: [
      [...manyAnswers(), finish()],
      [...say('And on.'), finish()],
    ],
  });
  const { quick, slow, sessionId } = await quickAndSlow(w);
  await quick.prompt(sessionId, 'go');
  const full = slow.waiting();
  slow.takeDownTo(400 * 1024);
  const left = slow.waiting();
  assert.ok(left > 256 * 1024 && left < full);
  await quick.prompt(sessionId, 'and?');
  assert.equal(slow.waiting(), left, 'neither the room nor a wake-up is enough');
  slow.takeDownTo(255 * 1024);
  await new Promise(setImmediate);
  assert.ok(slow.waiting() > MIB);
});

test('[FEED1] deltas that a slow client did not take are sent as one piece', async () => {
  const words = Array.from({ length: 30_000 }, (_, n) => ({
    type: 'delta' as const,
    kind: 'message' as const,
    text: `word ${n} of a very long answer, `,
  }));
  const text = words.map((word) => word.text).join('');
  await using w = await world({ script: [[...words, { type: 'message', text }, finish()]] });
  const slow = w.connect();
  await slow.client.initialize();
  const sessionId = await slow.client.newSession(w.dir);
  const quick = await w.client();
  await quick.request('session/resume', { sessionId, cwd: w.dir });
  slow.pause();
  const prompt = slow.client.prompt(sessionId, 'go');
  await quick.update(({ content }) => (content as { text?: string })?.text?.includes('word 29999 ') === true);
  assert.ok(slow.waiting() < 1.2 * MIB, `${slow.waiting()} bytes wait for it`);
  slow.resume();
  assert.deepEqual(await prompt, { stopReason: 'end_turn' });
  assert.equal(slow.client.text(), text);
  assert.equal(quick.text(), text);
  assert.ok(slow.client.updates().length < 15_000, 'coalesced');
});

test('[FEED2] a client that takes nothing for 30 seconds is cut with 4408; one that takes anything is not', async () => {
  await using w = await world({ script: [[...manyAnswers(), finish()]] });
  const { quick, slow, sessionId } = await quickAndSlow(w);
  await quick.prompt(sessionId, 'go');
  w.clock.advance(29_999);
  slow.takeDownTo(slow.waiting() - 1);
  w.clock.advance(1);
  assert.equal(slow.closedWith(), undefined, 'it took something');
  w.clock.advance(29_999);
  slow.takeDownTo(0);
  await new Promise(setImmediate);
  assert.ok(slow.waiting() > MIB, 'it is full again');
  w.clock.advance(29_999);
  assert.equal(slow.closedWith(), undefined, 'it took everything there was');
  w.clock.advance(1);
  assert.equal(slow.closedWith(), 4408);
});

test('[TOOL21] of a running tool only the newest output waits for a slow client, and whoever joins gets that one', async () => {
  const shown = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const snapshot = (n: number) => `${n}:${'x'.repeat(8_000)}`;
  const chatty: Tool = {
    ...note,
    name: 'chatty',
    async run(_args, { progress }) {
      for (let n = 0; n < 1_000; n++) progress(snapshot(n));
      shown.resolve();
      await go.promise;
      return { ok: true, output: 'over' };
    },
  };
  const script = [
    [call('c1', 'chatty', {}), finish()],
    [...say('Done.'), finish()],
  ];
  await using w = await world({ script, tools: [chatty] });
  const { quick, slow, sessionId } = await quickAndSlow(w);
  const prompt = quick.prompt(sessionId, 'go');
  await shown.promise;
  await new Promise(setImmediate);
  assert.ok(slow.waiting() < 1.2 * MIB, `${slow.waiting()} bytes wait for it`);
  const outputs = (client: WireClient) =>
    client.updates().flatMap(({ status, content }) => (status === 'in_progress' && content ? [textIn(content)] : []));
  slow.resume();
  await new Promise(setImmediate);
  assert.equal(outputs(slow.client).at(-1), snapshot(999));
  assert.ok(outputs(slow.client).length < 200, 'what was replaced is not sent later');
  const late = await w.client();
  await late.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  await quick.request('session/set_mode', { sessionId, modeId: 'plan' });
  await late.update(({ sessionUpdate }) => sessionUpdate === 'current_mode_update');
  assert.deepEqual(outputs(late), [snapshot(999)], 'once');
  go.resolve();
  await prompt;
  const after = await w.client();
  await after.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  assert.deepEqual(outputs(after), [], 'it is not in the Log');
});

test('[FEED3] clients with cursors get a heartbeat that says where their Sessions are; others get none', async () => {
  await using w = await world({ script: [[...say('Hi.'), finish()]] });
  const plain = await w.client();
  const { client } = w.connect();
  await client.initialize({ _meta: { pixir: { cursor: 1 } } });
  const sessionId = await client.newSession(w.dir);
  await client.prompt(sessionId, 'hi');
  w.clock.advance(17_000);
  const { params } = await client.frame(({ method }) => method === '_pixir/heartbeat');
  const { head } = await client.request('_pixir/session/attach', { sessionId, cursor: 'head' });
  assert.deepEqual(params, { heads: { [sessionId]: head } });
  assert.ok(!plain.frames.some(({ method }) => method === '_pixir/heartbeat'));
});

test('[S25] [BUS1] the bus keeps Sessions apart, forgets who left, and survives a listener that throws', () => {
  const errors: unknown[] = [];
  const heard: string[] = [];
  const bus = createBus((error) => errors.push(error));
  bus.subscribe('a', () => {
    throw new Error('boom');
  });
  const leave = bus.subscribe('a', ({ type }) => heard.push(`a ${type}`));
  bus.subscribe('b', ({ type }) => heard.push(`b ${type}`));
  bus.publish('a', { type: 'committed', seq: 0 });
  leave();
  leave();
  bus.publish('a', { type: 'committed', seq: 1 });
  bus.publish('b', { type: 'committed', seq: 0 });
  assert.deepEqual([heard, errors.length], [['a committed', 'b committed'], 2]);
  const leaveAll = bus.subscribeToAll(({ type }, sessionId) => heard.push(`all: ${sessionId} ${type}`));
  bus.publish('c', { type: 'deleted' });
  leaveAll();
  bus.publish('c', { type: 'deleted' });
  assert.deepEqual(heard.slice(2), ['all: c deleted']);
});
