import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CoreError } from '../../src/core/errors.ts';
import type { Event, EventType } from '../../src/core/event.ts';
import { start } from '../../src/core/lifecycle.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { call, finish, say, think } from '../../src/providers/script.ts';
import { sendText } from '../support/send.ts';
import { type World, type WorldOptions, world } from '../support/world.ts';

/** Runs one prompt to its end and returns the Log. */
async function runOnce(options: WorldOptions, check: (events: Event[], w: World) => void | Promise<void>) {
  await using w = await world(options);
  const session = await start(w.runtime, LOCAL, { workspace: w.dir });
  const { done } = await sendText(w, session.id, 'go');
  await done;
  await check(await w.events(session.id), w);
}

const typesOf = (events: Event[]) => events.slice(3).map(({ type }) => type);
const find = <T extends EventType>(events: Event[], type: T) => events.find((event) => event.type === type) as Event<T>;
const done = [...say('Done.'), finish()];

test('[U01] one answer: message, usage and end', async () => {
  const usage = { input: 10, cached: 4, output: 3, reasoning: 1 };
  await runOnce({ script: [[...say('Hi.'), { type: 'finished', reason: 'stop', usage }]] }, (events, w) => {
    assert.deepEqual(typesOf(events), ['assistant_message', 'provider_usage', 'session_titled', 'turn_finished']);
    assert.deepEqual(find(events, 'provider_usage').data, {
      turnId: 't1',
      model: 'm1',
      iteration: 0,
      usage,
      contextWindow: 1_000,
    });
    const [request] = w.provider.requests;
    assert.match(request?.cacheKey ?? '', /^px1:build:[\w-]+$/);
    assert.deepEqual(
      request?.tools.map(({ name }) => name),
      ['boom', 'defect', 'hang', 'note', 'planner', 'poke'],
    );
  });
});

test('[U03] there is no cap unless one is set', async () => {
  const rounds = Array.from({ length: 13 }, (_, n) => [call(`c${n}`, 'note', {}), finish()]);
  await runOnce({ script: [...rounds, done] }, (events) => {
    assert.equal(events.filter(({ type }) => type === 'tool_result').length, 13);
    assert.equal(find(events, 'turn_finished').data.stopReason, 'end_turn');
  });
});

test('[U04] [TURN8] at the cap the Turn stops and says so', async () => {
  const rounds = Array.from({ length: 3 }, (_, n) => [call(`c${n}`, 'note', {}), finish()]);
  await runOnce({ script: rounds, settings: { maxIterations: 2 } }, (events, w) => {
    assert.equal(w.provider.requests.length, 2);
    const end = ['provider_usage', 'assistant_message', 'session_titled', 'turn_finished'];
    assert.deepEqual(typesOf(events).slice(-4), end);
    assert.equal(find(events, 'assistant_message').data.text, 'Stopped: reached the tool-iteration cap (2).');
    assert.equal(find(events, 'turn_finished').data.stopReason, 'max_turn_requests');
  });
});

test('[U06] [TURN9] every item is recorded in the order in which it completed, text before calls included', async () => {
  const script = [[...think('Hm.'), ...say('First. '), ...think('So.'), call('c1', 'note', {}), finish()], done];
  await runOnce({ script }, (events) => {
    const order = ['reasoning', 'assistant_message', 'reasoning', 'provider_usage', 'tool_call', 'tool_result'];
    assert.deepEqual(typesOf(events).slice(0, 6), order);
    assert.equal(find(events, 'reasoning').data.model, 'm1');
  });
});

test('[TURN10] truncated and refused answers end with their reason, and their calls are not run', async () => {
  for (const reason of ['max_tokens', 'refusal'] as const) {
    await runOnce({ script: [[...say('Half'), call('c1', 'poke', {}), finish(reason)]] }, (events, w) => {
      assert.equal(find(events, 'turn_finished').data.stopReason, reason);
      assert.ok(!existsSync(join(w.dir, 'poked')));
    });
  }
});

test('[U16] [U17] [TURN11] a failure keeps the text and records why, exactly once', async () => {
  const error = new CoreError('network', 'the line went dead');
  await runOnce(
    {
      script: [
        [
          { type: 'delta', kind: 'message', text: 'Half' },
          { type: 'fail', error },
        ],
      ],
    },
    (events) => {
      assert.deepEqual(typesOf(events), ['assistant_message', 'session_titled', 'turn_finished']);
      assert.deepEqual(find(events, 'assistant_message').data.partial, 'failed');
      const { outcome, stopReason, error: why } = find(events, 'turn_finished').data;
      assert.deepEqual(
        [outcome, stopReason, why?.kind, why?.message],
        ['failed', 'end_turn', 'network', 'the line went dead'],
      );
    },
  );
});

test('[TURN12] a stream that ends early is a failure, not an answer', async () => {
  await runOnce({ script: [[...say('Looks whole.')]] }, (events) => {
    assert.equal(find(events, 'turn_finished').data.outcome, 'failed');
    assert.equal(find(events, 'turn_finished').data.error?.kind, 'network');
  });
});

test('[TURN13] a Turn that runs out of time is stopped', async () => {
  await using w = await world({ script: [[{ type: 'hang' }]], settings: { turnTimeoutMs: 5_000 } });
  const session = await start(w.runtime, LOCAL, { workspace: w.dir });
  const turn = await sendText(w, session.id, 'go');
  w.clock.advance(5_000);
  assert.equal((await turn.done).stopReason, 'end_turn');
  assert.equal(find(await w.events(session.id), 'turn_finished').data.outcome, 'timed_out');
});

test('[X08] [EXEC1] unknown tools and bad arguments are recorded and answered, and the Turn goes on', async () => {
  const calls = [
    call('c1', 'nope', {}),
    call('c2', 'note', { text: 7 }),
    call('c3', 'note', 'not json'),
    call('c4', 'note', { extra: 1 }),
  ];
  await runOnce({ script: [[...calls, finish()], done] }, (events) => {
    const results = events.filter((event): event is Event<'tool_result'> => event.type === 'tool_result');
    assert.deepEqual(
      results.map(({ data }) => data.error?.kind),
      ['unknown_tool', 'invalid_args', 'invalid_args', 'invalid_args'],
    );
    assert.equal(find(events, 'turn_finished').data.outcome, 'completed');
  });
});

test('[X09] [EXEC2] what a tool throws becomes a structured result; a defect shows none of its insides', async () => {
  await runOnce({ script: [[call('c1', 'boom', {}), call('c2', 'defect', {}), finish()], done] }, (events, w) => {
    const results = events.filter((event): event is Event<'tool_result'> => event.type === 'tool_result');
    const [boom, defect] = results.map(({ data }) => data);
    assert.deepEqual(boom?.error, { kind: 'not_found', message: 'no such thing', details: { path: 'x' } });
    assert.deepEqual(JSON.parse(boom?.output ?? ''), { ok: false, error: boom?.error });
    assert.equal(defect?.error?.kind, 'internal');
    assert.doesNotMatch(JSON.stringify(defect), /secret/);
    assert.match(String(w.errors.splice(0)), /secret internals/);
  });
});

test('[EXEC3] an id that the provider repeats names one call only', async () => {
  const rounds = [[call('call_0', 'note', {}), finish()], [call('call_0', 'note', {}), finish()], done];
  await runOnce({ script: rounds }, (events, w) => {
    const ids = events.flatMap((event) => (event.type === 'tool_call' ? [event.data.callId] : []));
    assert.deepEqual(ids, ['call_0', 'call_0-2']);
    const replayed = w.provider.requests[2]?.history.flatMap((item) => ('callId' in item ? [item.callId] : []));
    assert.deepEqual(replayed, ['call_0', 'call_0', 'call_0-2', 'call_0-2']);
  });
});

test('[O07] [PLAN1] a plan is durable', async () => {
  await runOnce({ script: [[call('c1', 'planner', { text: 'step' }), finish()], done] }, (events) => {
    assert.deepEqual(find(events, 'plan').data.entries, [{ content: 'step', priority: 'high', status: 'pending' }]);
  });
});

test('[U14] [EXEC4] a dry run asks and records as always, and does nothing', async () => {
  await using w = await world({ script: [[call('c1', 'poke', { text: 'x' }), finish()], done] });
  const session = await start(w.runtime, LOCAL, { workspace: w.dir });
  await (await sendText(w, session.id, 'go', { dryRun: true })).done;
  assert.ok(!existsSync(join(w.dir, 'poked')));
  const result = find(await w.events(session.id), 'tool_result').data;
  assert.deepEqual([result.dryRun, result.output], [true, 'would poke x']);
});
