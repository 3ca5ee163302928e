import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../src/core/event.ts';
import { call, finish, say, think } from '../../src/providers/script.ts';
import { Follower } from '../support/follower.ts';
import type { MemoryConnection } from '../support/memory-wire.ts';
import type { Frame } from '../support/schema.ts';
import { type World, world } from '../support/world.ts';

/** Text, thoughts, a plan, tools, an approval, and a second Turn. */
const script = () => [
  [...think('Let me think about it.'), ...say('First I look around. '), call('c1', 'note', { text: 'a' }), finish()],
  [...say('Now a plan. '), call('c2', 'planner', { text: 'step' }), call('c3', 'poke', { text: 'x' }), finish()],
  [...think('Good.'), ...say('All of it is done.'), finish()],
  [...say('And a second Turn.'), finish()],
];
const PROMPTS = ['one', 'two'];
const allow = { outcome: { outcome: 'selected', optionId: 'allow' } };

interface Journey {
  follower: Follower;
  frames: number;
  events: Event[];
}

/**
 * Sends the prompts and reads to the end, being cut off after every `every`th frame that was applied, and each time
 * coming back with the cursor and the same prompt.
 */
async function travel(every: number, direction: 'in' | 'out' = 'in'): Promise<Journey> {
  await using w = await world({ script: script(), settings: { permissionCeiling: 'ask' } });
  const first = await w.client();
  const follower = new Follower(await first.newSession(w.dir));
  first.close();
  let frames = 0;
  for (const [index, text] of PROMPTS.entries()) {
    const promptKey = `key-${index}`;
    follower.sent.set(promptKey, text);
    follower.transcript.set(promptKey, { kind: 'own', text });
    for (let tries = 0; ; tries++) {
      assert.ok(tries < 2_000, 'it never gets through');
      // Each connection gets one frame further than the last, or two connections could cut each other off for ever.
      const budget = every + Math.floor(tries / 8);
      const { answered, taken } = await sitting(w, follower, text, promptKey, budget, direction);
      frames += taken;
      if (answered) break;
    }
  }
  const last = w.connect();
  last.client.onFrame = (frame) => follower.apply(frame);
  await last.client.initialize({ _meta: { pixir: { cursor: 1 } } });
  await follower.attach(last.client);
  await last.client.frame(({ method }) => method === '_pixir/session/caught_up');
  return { follower, frames, events: await w.events(follower.sessionId) };
}

async function sitting(
  w: World,
  follower: Follower,
  text: string,
  promptKey: string,
  budget: number,
  direction: 'in' | 'out',
) {
  const connection: MemoryConnection = w.connect();
  const { client } = connection;
  let left = budget;
  let taken = 0;
  const cut = Promise.withResolvers<'cut'>();
  const spend = () => {
    left--;
    if (left > 0) return;
    client.onFrame = () => {};
    client.close();
    cut.resolve('cut');
  };
  client.onFrame = (frame: Frame) => {
    taken++;
    follower.apply(frame);
    if (frame.method === 'session/request_permission') {
      if (direction === 'out' && left <= 1) return spend();
      client.raw({ jsonrpc: '2.0', id: frame.id, result: allow });
    }
    if (frame.method !== undefined) spend();
  };
  const work = (async () => {
    await client.initialize({ _meta: { pixir: { cursor: 1 } } });
    await follower.attach(client);
    const { stopReason } = await client.prompt(follower.sessionId, text, { pixir: { promptKey } });
    return stopReason;
  })().catch(() => 'cut');
  const end = await Promise.race([work, cut.promise]);
  client.close();
  client.assertSound();
  return { answered: end === 'end_turn', taken };
}

function assertOneTurnEach(events: Event[]): void {
  const turns = events.filter(({ type }) => type === 'turn_started');
  assert.equal(turns.length, PROMPTS.length, 'exactly one Turn ran for each prompt');
  assert.equal(events.filter(({ type }) => type === 'turn_finished').length, PROMPTS.length);
}

/** The Log is what the transcript is measured by: every message whole, once. */
function assertComplete({ transcript }: Follower, events: Event[]): void {
  for (const { type, data } of events) {
    if (type === 'assistant_message') assert.equal(transcript.get(data.messageId)?.text, data.text);
    if (type === 'reasoning') assert.equal(transcript.get(data.messageId)?.text, data.summary);
    if (type === 'tool_call') assert.match(transcript.get(data.callId)?.text ?? '', /completed/);
  }
}

test('[CUT1] cut after every single frame: the transcript equals the uninterrupted one, and each prompt ran once', async () => {
  const whole = await travel(Number.POSITIVE_INFINITY);
  assertOneTurnEach(whole.events);
  assertComplete(whole.follower, whole.events);
  assert.ok(whole.frames > 20);
  for (const direction of ['in', 'out'] as const) {
    for (let every = 1; every <= whole.frames + 1; every++) {
      const journey = await travel(every, direction);
      assert.deepEqual(journey.follower.visible(), whole.follower.visible(), `cut every ${every}, ${direction}`);
      assertOneTurnEach(journey.events);
    }
  }
});

test('[CUT2] somebody who only watches, cut after every single frame, sees the same; a message of several blocks is not doubled', async () => {
  await using w = await world({ script: script().slice(0, 3) });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  const prompt = ['one ', 'two ', 'three'].map((text) => ({ type: 'text', text }));
  await client.request('session/prompt', { sessionId, prompt });
  const events = await w.events(sessionId);
  for (let every = 1; every < 40; every++) {
    const follower = new Follower(sessionId);
    // A little further each time: an Event whose updates never all arrive has no cursor to go on from.
    for (let tries = 0; follower.caughtUp === 0; tries++) await watchFor(w, follower, every + Math.floor(tries / 3));
    assertComplete(follower, events);
    const asked = [...follower.transcript.values()].find(({ kind }) => kind === 'user_message_chunk');
    assert.equal(asked?.text, 'one two three', `cut every ${every}`);
  }
});

async function watchFor(w: World, follower: Follower, frames: number): Promise<void> {
  const { client } = w.connect();
  await client.initialize({ _meta: { pixir: { cursor: 1 } } });
  const over = Promise.withResolvers<void>();
  // One for the answer to the attach itself.
  let left = frames + 1;
  client.onFrame = (frame) => {
    if (left-- <= 0) return over.resolve();
    follower.apply(frame);
    if (follower.caughtUp > 0) over.resolve();
  };
  await follower.attach(client, 'observer');
  await over.promise;
  client.onFrame = () => {};
  client.close();
}
