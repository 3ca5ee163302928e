/** One Turn with everything in it, cancelled before and after each single thing that it waits for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as rest } from 'node:timers/promises';
import type { Provider } from '../../src/core/provider.ts';
import type { Tool } from '../../src/core/tool.ts';
import { call, finish, say, think } from '../../src/providers/script.ts';
import { createScripted } from '../../src/providers/scripted.ts';
import { memoryLog } from '../../src/store/memory-log.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { TEST_TOOLS } from '../support/tools.ts';
import { world } from '../support/world.ts';

const SCRIPT = [
  [...think('Let me see.'), ...say('First a look.'), call('c1', 'note', { text: 'a' }), finish()],
  [call('c2', 'poke', { text: 'x' }), call('c3', 'planner', { text: 'a plan' }), finish()],
  [...say('Done.'), finish()],
  // For the Turn after the cancelled one, wherever that was cut.
  ...Array.from({ length: 4 }, () => [...say('Again.'), finish()]),
];

/** Every moment at which the Turn waits for one of its ports, counted; something may happen at one of them. */
class Moments {
  count = 0;
  names: string[] = [];
  happen: () => void = () => {};
  #at = Number.POSITIVE_INFINITY;
  #running = false;

  start(at: number): void {
    this.#at = at;
    this.#running = true;
  }

  stop(): void {
    this.#running = false;
  }

  async reach(name: string): Promise<void> {
    if (!this.#running) return;
    this.names.push(name);
    this.count += 1;
    if (this.count !== this.#at) return;
    this.happen();
    // Until it has arrived.
    await rest();
  }

  /** The same function, with a moment before it and one after it. */
  around<A extends unknown[], R>(name: string, run: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
    return async (...args) => {
      await this.reach(`before ${name}`);
      try {
        return await run(...args);
      } finally {
        await this.reach(`after ${name}`);
      }
    };
  }
}

function providerWith(moments: Moments): Provider {
  const scripted = createScripted({ script: SCRIPT });
  return {
    async *stream(request, signal) {
      for await (const event of scripted.stream(request, signal)) {
        await moments.reach(`before the ${event.type}`);
        yield event;
        await moments.reach(`after the ${event.type}`);
      }
    },
  };
}

/** @returns how many moments there were, and which was meant. */
async function cancelAt(at: number): Promise<{ count: number; name: string | undefined }> {
  const moments = new Moments();
  const memory = memoryLog(fakeClock());
  const log = {
    ...memory,
    append: moments.around('an append', memory.append),
    read: moments.around('a read', memory.read),
  };
  const wrap = (tool: Tool): Tool => ({ ...tool, run: moments.around(`the tool ${tool.name}`, tool.run) });
  const options = { log, provider: providerWith(moments), tools: TEST_TOOLS.map(wrap) };
  await using w = await world({ ...options, settings: { permissionCeiling: 'ask' } });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  client.onPermission = (_params, id) => {
    void moments
      .reach('the question')
      .then(() => client.raw({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'allow' } } }));
    return undefined;
  };
  moments.happen = () => client.notify('session/cancel', { sessionId });

  moments.start(at);
  const answer = await client.prompt(sessionId, 'go');
  moments.stop();
  const name = moments.names[at - 1];
  if (moments.count < at) return { count: moments.count, name };
  const where = `cancelled ${name} (moment ${at})`;
  assert.deepEqual(answer, { stopReason: 'cancelled' }, where);
  const answered = client.frames.length;
  // What somebody asks later is answered later: whatever was still to come has come.
  await client.request('session/list');
  const late = client.frames.slice(answered).filter(({ method }) => method === 'session/update');
  assert.deepEqual(late, [], `${where}: something came after the answer`);

  const events = await w.events(sessionId);
  const ends = events.filter(({ type }) => type === 'turn_finished');
  assert.equal(ends.length, 1, where);
  const results = events.flatMap((event) => (event.type === 'tool_result' ? [event.data.callId] : []));
  const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event.data.callId] : []));
  assert.deepEqual(results.sort(), calls.sort(), `${where}: every call has its one result`);
  const answers = client.frames.filter(({ method, result }) => method === undefined && result?.stopReason);
  assert.equal(answers.length, 1, where);
  assert.deepEqual(await client.prompt(sessionId, 'again'), { stopReason: 'end_turn' }, `${where}: the next Turn`);
  assert.deepEqual(w.errors, [], where);
  return { count: moments.count, name };
}

test('[CAN8] cancelled before or after anything that a Turn waits for, it is answered once, as cancelled, and nothing follows', async () => {
  const { count } = await cancelAt(Number.POSITIVE_INFINITY);
  assert.ok(count > 50, `${count} moments`);
  const seen = new Set<string>();
  for (let at = 1; at <= count; at += 1) {
    const { name } = await cancelAt(at);
    if (name) seen.add(name);
  }
  for (const name of [
    'before an append',
    'after an append',
    'the question',
    'before the tool poke',
    'after the tool poke',
  ])
    assert.ok(seen.has(name), name);
});
