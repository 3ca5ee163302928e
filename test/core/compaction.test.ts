import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { awaitTurn, interrupt } from '../../src/core/conversation.ts';
import { CoreError, type ErrorCode } from '../../src/core/errors.ts';
import type { Event, EventDraft, EventType } from '../../src/core/event.ts';
import { start } from '../../src/core/lifecycle.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { COMPACTION_PROMPT, compactionRequest } from '../../src/core/prompt.ts';
import type { HistoryItem, ProviderRequest } from '../../src/core/provider.ts';
import { call, finish, type ScriptStep, say } from '../../src/providers/script.ts';
import type { Script } from '../../src/providers/scripted.ts';
import { memoryLog } from '../../src/store/memory-log.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { sendText } from '../support/send.ts';
import { type World, type WorldOptions, world } from '../support/world.ts';

const taking = (input: number): ScriptStep => {
  return { type: 'finished', reason: 'stop', usage: { input, cached: 0, output: 10, reasoning: 4 } };
};
const answer = (text: string, tokens = 100) => [...say(text), taking(tokens - 10)];
const summary = [...say('What was said.'), taking(900)];
const fails = (code: ErrorCode): ScriptStep[] => [{ type: 'fail', error: new CoreError(code, 'it went wrong') }];
const overflow = fails('context_overflow');
const asked = (text: string): HistoryItem => ({ type: 'user', content: [{ type: 'text', text }] });
const isSummary = (item: HistoryItem | undefined) =>
  /replaced by this summary.*What was said/s.test(JSON.stringify(item));

const find = <T extends EventType>(events: Event[], type: T) =>
  events.filter((event) => event.type === type) as unknown as Event<T>[];

/** Runs these prompts one after another; `/compact` and what follows it is that command. */
async function converse(options: WorldOptions, prompts: string[], check: (told: Told) => void | Promise<void>) {
  await using w = await world(options);
  const { id } = await start(w.runtime, LOCAL, { workspace: w.dir });
  for (const [index, text] of prompts.entries()) await (await say1(w, id, text, index)).done;
  const events = await w.events(id);
  const types = (turn: number) => {
    return events.filter(({ data }) => 'turnId' in data && data.turnId === `t${turn}`).map(({ type }) => type);
  };
  await check({ w, id, events, types, requests: w.provider.requests });
}

interface Told {
  w: World;
  id: string;
  events: Event[];
  types(turn: number): EventType[];
  requests: readonly ProviderRequest[];
}

function say1(w: World, id: string, text: string, index: number) {
  const [, keep] = /^\/compact ?(.*)$/.exec(text) ?? [];
  return sendText(w, id, text, { turnId: `t${index}`, ...(keep === undefined ? {} : { compact: keep }) });
}

test('[COMP1] [COMP2] the model is asked for a summary and then shown that alone, while the Log stays whole', async () => {
  const script = [answer('Hi.'), summary, answer('Go on.')];
  await converse({ script }, ['hello', '/compact the plan', 'next'], ({ events, types, requests }) => {
    const [, request, after] = requests;
    assert.equal(request?.instructions, COMPACTION_PROMPT);
    assert.deepEqual([request?.tools, request?.developerContext], [[], '']);
    assert.deepEqual(request?.history, [
      asked('hello'),
      { type: 'assistant', text: 'Hi.' },
      asked(compactionRequest('the plan')),
    ]);
    assert.match(compactionRequest('the plan'), /the plan/);
    assert.ok(isSummary(after?.history[0]));
    assert.deepEqual(after?.history.slice(1), [asked('next')]);
    const turn = ['turn_started', 'user_message', 'compaction_started', 'history_compacted', 'turn_finished'];
    assert.deepEqual(types(1), turn);
    const { turnId: _, compactionId, ...made } = find(events, 'history_compacted')[0]?.data ?? assert.fail();
    const usage = { input: 900, cached: 0, output: 10, reasoning: 4 };
    assert.deepEqual(made, { summary: 'What was said.', model: 'm1', usage, contextWindow: 1_000 });
    assert.equal(find(events, 'compaction_started')[0]?.data.compactionId, compactionId);
    assert.equal(find(events, 'assistant_message').length, 2, 'nothing was taken away');
  });
});

test('[COMP2] [PROMPT1] the words that ask for a summary are pinned', () => {
  const words = [COMPACTION_PROMPT, compactionRequest(''), compactionRequest('x')].join('\u0000');
  assert.equal(hash('sha256', words, 'hex').slice(0, 16), '48492ccca83af91c');
});

test('[COMP2] with nothing to sum up nothing is asked, and such a Turn names no Session', async () => {
  await converse({ script: [] }, ['/compact the plan'], ({ events, requests }) => {
    assert.equal(requests.length, 0);
    assert.match(find(events, 'assistant_message')[0]?.data.text ?? '', /nothing to compact/i);
    assert.equal(find(events, 'turn_finished')[0]?.data.outcome, 'completed');
    assert.equal(find(events, 'session_titled').length, 0);
  });
});

test('[COMP2] a compaction sums up the summary before it', async () => {
  const script = [answer('Hi.'), summary, answer('Yes.'), summary];
  await converse({ script }, ['hello', '/compact', 'and?', '/compact'], ({ requests }) => {
    const { history = [] } = requests[3] ?? {};
    assert.ok(isSummary(history[0]));
    assert.deepEqual(history.slice(1), [
      asked('and?'),
      { type: 'assistant', text: 'Yes.' },
      asked(compactionRequest('')),
    ]);
  });
});

const incomplete: [string, ScriptStep[], RegExp][] = [
  ['a failure', fails('network'), /it went wrong/],
  ['no text', [finish()], /no whole summary/],
  ['blank text', [...say(' \n'), finish()], /no whole summary/],
  ['half a summary', [...say('What was'), finish('max_tokens')], /no whole summary/],
  ['a stream that breaks off', [...say('What was')], /ended before/],
];
for (const [what, steps, why] of incomplete) {
  test(`[COMP3] with ${what} for a summary nothing is compacted, and the Turn says why`, async () => {
    const script = [answer('Hi.'), steps, answer('Yes.')];
    await converse({ script }, ['hello', '/compact', 'and?'], ({ events, types, requests }) => {
      const [failed] = find(events, 'compaction_failed');
      assert.match(failed?.data.error.message ?? '', why);
      const end = find(events, 'turn_finished')[1]?.data;
      assert.deepEqual([end?.outcome, end?.error], ['failed', failed?.data.error]);
      assert.deepEqual(types(1).slice(2), ['compaction_started', 'compaction_failed', 'turn_finished']);
      assert.deepEqual(requests[2]?.history, [asked('hello'), { type: 'assistant', text: 'Hi.' }, asked('and?')]);
    });
  });
}

test('[COMP3] cancelled, it has one end, changes nothing, and the next prompt works', async () => {
  await using w = await world({ script: [answer('Hi.'), [...say('What'), { type: 'hang' }], answer('Yes.')] });
  const { id } = await start(w.runtime, LOCAL, { workspace: w.dir });
  await (await say1(w, id, 'hello', 0)).done;
  const { done } = await say1(w, id, '/compact', 1);
  while (w.provider.requests.length < 2) await new Promise(setImmediate);
  await interrupt(w.runtime, LOCAL, id);
  assert.equal((await done).stopReason, 'cancelled');
  await (await say1(w, id, 'and?', 2)).done;
  const events = await w.events(id);
  assert.deepEqual(
    find(events, 'compaction_failed').map(({ data }) => data.error.kind),
    ['cancelled'],
  );
  assert.equal(w.provider.requests[2]?.history.length, 3);
});

/** A model that sums up when it is asked to, and else says how much it was shown. */
const obliging: Script = async function* (request) {
  const { history, instructions } = request;
  if (instructions === COMPACTION_PROMPT) yield* [...say('What was said.'), taking(900)] as ReturnType<typeof say>;
  else yield* answer(isSummary(history[0]) ? 'From a summary.' : 'From everything.', 900) as ReturnType<typeof say>;
};

for (const recovery of ['resume', 'interrupt'] as const) {
  test(`[COMP3] cut by a crash after any Event it is whole or has not happened (${recovery})`, async () => {
    // The second Turn begins under pressure, the third is the command.
    const prompts = ['one', 'two', '/compact'];
    await converse({ script: obliging }, prompts, async ({ events }) => {
      assert.equal(find(events, 'history_compacted').length, 2);
      for (let length = 3; length <= events.length; length++) {
        const log = memoryLog(fakeClock());
        await log.append(
          events.slice(0, length).map(({ sessionId, type, data }) => ({ sessionId, type, data }) as EventDraft),
        );
        await using w = await world({ log, script: obliging, settings: { recovery } });
        const id = events[0]?.sessionId ?? '';
        await awaitTurn(w.runtime, LOCAL, id);
        await (await say1(w, id, 'last', 9)).done;
        const all = await w.events(id);
        const begun = find(all, 'compaction_started').map(({ data }) => data.compactionId);
        const ended = [...find(all, 'history_compacted'), ...find(all, 'compaction_failed')];
        assert.deepEqual(ended.map(({ data }) => data.compactionId).sort(), begun.sort(), `${length}`);
        assert.equal(find(all, 'turn_finished').length, find(all, 'turn_started').length);
        if (recovery === 'resume' && all.some(({ type, data }) => type === 'turn_started' && data.compact === ''))
          assert.equal(
            find(all, 'history_compacted').filter(({ data }) => data.turnId === 't2').length,
            1,
            `${length}`,
          );
      }
    });
  });
}

test('[COMP4] after a command to compact there is room again', async () => {
  const script = [answer('Hi.', 900), summary, answer('Yes.')];
  await converse({ script }, ['hello', '/compact', 'and?'], ({ events }) => {
    assert.deepEqual(
      find(events, 'compaction_started').map(({ data }) => data.trigger),
      ['command'],
    );
  });
});

test('[COMP4] a Turn begins with a compaction where the call before took more than 85 % of the window', async () => {
  const script = [answer('Hi.', 851), summary, answer('Yes.'), answer('Fine.')];
  await converse({ script }, ['hello', 'and?', 'so?'], ({ events, types, requests }) => {
    const first = ['turn_started', 'user_message', 'compaction_started', 'history_compacted', 'assistant_message'];
    assert.deepEqual(types(1).slice(0, 5), first);
    assert.equal(find(events, 'compaction_started')[0]?.data.trigger, 'pressure');
    assert.equal(find(events, 'history_compacted').length, 1, 'and not the one after it');
    assert.ok(isSummary(requests[2]?.history[0]));
    assert.deepEqual(requests[2]?.history.slice(1), [asked('and?')], 'what was asked is asked');
  });
});

const roomy: [string, number, NonNullable<WorldOptions['settings']>][] = [
  ['85 %', 850, {}],
  ['switched off, more', 2_000, { autoCompact: false }],
  ['of an unknown window, more', 2_000, { models: [{ id: 'x', name: 'X', contextWindow: null }] }],
];
for (const [what, tokens, settings] of roomy) {
  test(`[COMP4] [U21] with ${what}, it does not`, async () => {
    const script = [answer('Hi.', tokens), answer('Yes.')];
    await converse({ script, settings }, ['hello', 'and?'], ({ events, requests }) => {
      assert.equal(find(events, 'compaction_started').length, 0);
      assert.equal(requests[1]?.history.length, 3);
    });
  });
}

test('[COMP4] where that fails it is told, and the Turn goes on with everything', async () => {
  const script = [answer('Hi.', 900), fails('rate_limited'), answer('Yes.')];
  await converse({ script }, ['hello', 'and?'], ({ events, types, requests }) => {
    assert.deepEqual(types(1).slice(2, 5), ['compaction_started', 'compaction_failed', 'assistant_message']);
    const [failed] = find(events, 'compaction_failed');
    assert.deepEqual([failed?.data.error.kind, failed?.data.goesOn], ['rate_limited', true]);
    assert.equal(requests[2]?.history.length, 3);
    assert.equal(find(events, 'turn_finished')[1]?.data.outcome, 'completed');
  });
});

test('[COMP5] [U23] a call that does not fit is made again after a compaction, and the request stays as it was asked', async () => {
  const script = [answer('Hi.'), [call('c1', 'note', {}), taking(200)], overflow, summary, answer('Done.')];
  await converse({ script }, ['hello', 'go'], ({ events, types, requests }) => {
    const order = ['tool_result', 'compaction_started', 'history_compacted', 'assistant_message'];
    assert.deepEqual(types(1).slice(4, 8), order);
    assert.equal(find(events, 'compaction_started')[0]?.data.trigger, 'overflow');
    assert.deepEqual(requests[4]?.history.slice(1), [asked('go')]);
    assert.equal(find(events, 'turn_finished')[1]?.data.outcome, 'completed');
  });
});

test('[COMP5] [U23] where there is nothing to compact, or it did not help, the Turn fails with what the call said', async () => {
  const outcome = async (script: ScriptStep[][], prompts: string[], settings: WorldOptions['settings'] = {}) => {
    let said: unknown[] = [];
    await converse({ script, settings }, prompts, ({ events, requests }) => {
      const end = find(events, 'turn_finished').at(-1)?.data;
      said = [end?.error?.kind, find(events, 'compaction_started').length, requests.length];
    });
    return said;
  };
  assert.deepEqual(await outcome([overflow], ['hello']), ['context_overflow', 0, 1]);
  const again = [answer('Hi.'), overflow, summary, overflow];
  assert.deepEqual(await outcome(again, ['hello', 'go']), ['context_overflow', 1, 4]);
  assert.deepEqual(await outcome([answer('Hi.'), overflow, fails('network')], ['hello', 'go']), [
    'context_overflow',
    1,
    3,
  ]);
  assert.deepEqual(await outcome([answer('Hi.'), fails('network')], ['hello', 'go']), ['network', 0, 2]);
  const off = { autoCompact: false };
  assert.deepEqual(await outcome([answer('Hi.'), overflow], ['hello', 'go'], off), ['context_overflow', 0, 2]);
});

test('[COMP5] what is too long to be summed up is shown with its texts shortened, more each time, and then not at all', async () => {
  const long = `${'a'.repeat(20_000)}😀${'z'.repeat(20_000)}`;
  const script = [
    [...say(long), call('c1', 'note', { text: long }), finish()],
    answer('Hi.'),
    ...[overflow, overflow, overflow, summary, answer('Yes.')],
  ];
  await converse({ script }, [long, '/compact', 'and?'], ({ requests }) => {
    const sizes = requests.slice(2, 6).map(({ history }) => JSON.stringify(history).length);
    assert.ok((sizes[0] ?? 0) > 120_000);
    const [, ...shorter] = sizes;
    assert.ok(
      [15_000, 4_000, 2_000].every((most, n) => (shorter[n] ?? most) < most),
      `${sizes}`,
    );
    const last = requests[5]?.history ?? [];
    assert.deepEqual(
      last.map(({ type }) => type),
      requests[2]?.history.map(({ type }) => type),
    );
    assert.match(JSON.stringify(last[0]), /a{125}\\n\[39752 characters are left out here\]\\nz{125}/);
    assert.deepEqual(last[2], { type: 'tool_call', callId: 'c1', name: 'note', args: { omitted: '40013 characters' } });
    assert.ok(isSummary(requests[6]?.history[0]));
  });
  const hopeless = [answer('Hi.'), overflow, overflow, overflow, overflow];
  await converse({ script: hopeless }, ['hello', '/compact'], ({ events, requests }) => {
    assert.equal(requests.length, 5);
    assert.equal(find(events, 'compaction_failed')[0]?.data.error.kind, 'context_overflow');
  });
});
