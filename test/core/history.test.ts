import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Event, EventType } from '../../src/core/event.ts';
import { applyToHistory, emptyHistory, historyItems, orphanOutput } from '../../src/core/history.ts';
import { logOf, said } from '../support/events.ts';

function fold(events: Event[]) {
  const history = emptyHistory();
  for (const event of events) applyToHistory(history, event);
  return historyItems(history);
}

const call = (callId: string, name = 'read') =>
  ['tool_call', { callId, name, args: { path: 'a' } }] as [EventType, object];
const result = (callId: string, output = 'text') =>
  ['tool_result', { callId, ok: true, output }] as [EventType, object];
const thought = (id: number) => [
  'reasoning',
  { messageId: `t${id}`, model: 'm', dialect: 'd', item: { id }, summary: '' },
];
const events = (...pairs: unknown[]) => logOf(...(pairs as Parameters<typeof logOf>));
const types = (log: Event[]) => fold(log).map((item) => item.type);

test('[P01] [HIST1] messages, calls and results come in Log order', () => {
  const log = events(['user_message', said('go')], call('c1'), result('c1'), ['assistant_message', { text: 'done' }]);
  assert.deepEqual(fold(log), [
    { type: 'user', content: [{ type: 'text', text: 'go' }] },
    { type: 'tool_call', callId: 'c1', name: 'read', args: { path: 'a' } },
    { type: 'tool_result', callId: 'c1', output: 'text' },
    { type: 'assistant', text: 'done' },
  ]);
});

test('[P02] [HIST2] partial text, usage, decisions and plans never reach the model', () => {
  const log = events(
    ['user_message', said('go')],
    ['assistant_message', { text: 'half', partial: 'cancelled' }],
    ['provider_usage', {}],
    ['plan', { entries: [] }],
    ['turn_finished', {}],
  );
  assert.deepEqual(types(log), ['user']);
});

test('[P03] [HIST3] a call without a result is closed before what follows it', () => {
  const log = events(call('b'), call('a'), ['user_message', said('next')]);
  assert.deepEqual(fold(log).slice(2, 4), [
    { type: 'tool_result', callId: 'a', output: orphanOutput('a', 'read') },
    { type: 'tool_result', callId: 'b', output: orphanOutput('b', 'read') },
  ]);
  assert.equal(JSON.parse(orphanOutput('a', 'read')).error.kind, 'orphan_tool_call');
});

test('[P04] decisions and usage between a call and its result close nothing', () => {
  const between = [
    ['permission_requested', { callId: 'c1' }],
    ['permission_decision', { callId: 'c1' }],
    ['provider_usage', {}],
  ];
  assert.deepEqual(types(events(call('c1'), ...between, result('c1'))), ['tool_call', 'tool_result']);
});

test('[HIST4] a result that no call asked for is dropped', () => {
  assert.deepEqual(fold(events(result('c9'))), []);
});

test('[P05] [HIST5] reasoning is replayed only together with what it led to', () => {
  assert.deepEqual(types(events(thought(1), call('c1'), result('c1'))), ['reasoning', 'tool_call', 'tool_result']);
  assert.deepEqual(types(events(thought(1), ['assistant_message', { text: 'x' }])), ['reasoning', 'assistant']);
  assert.deepEqual(types(events(thought(1), ['turn_finished', {}], ['user_message', said('x')])), ['user']);
  assert.deepEqual(types(events(thought(1))), []);
});

test('[HIST6] whatever the Log, the fold is one the providers accept, and it is the same from any split', () => {
  const pairs = fc.constantFrom<unknown>(
    ['user_message', said('u')],
    ['assistant_message', { text: 'a' }],
    ['assistant_message', { text: 'a', partial: 'failed' }],
    thought(1),
    call('c1'),
    call('c2'),
    result('c1'),
    result('c2'),
    ['turn_finished', {}],
    ['provider_usage', {}],
    ['history_compacted', { summary: 's' }],
  );
  fc.assert(
    fc.property(fc.array(pairs, { maxLength: 30 }), (drawn) => {
      const items = fold(events(...drawn));
      const open = new Set<string>();
      items.forEach((item, index) => {
        if (item.type === 'tool_call') open.add(item.callId);
        if (item.type === 'tool_result') assert.ok(open.delete(item.callId), 'a result follows its call');
        if (item.type === 'user' || item.type === 'assistant') assert.equal(open.size, 0, 'no call stays open');
        if (item.type === 'reasoning') assert.ok(items[index + 1], 'reasoning has a follower');
      });
      assert.equal(open.size, 0);
      // Reading the items on the way changes nothing: the fold is incremental.
      const history = emptyHistory();
      for (const event of events(...drawn)) {
        historyItems(history);
        applyToHistory(history, event);
      }
      assert.deepEqual(historyItems(history), items);
    }),
  );
});

test('[P10] [COMP1] after a compaction there is the summary, what the Turn was asked, and all that follows', () => {
  const pairs = fc.constantFrom<unknown>(
    ['turn_started', {}],
    ['user_message', said('u')],
    ['assistant_message', { text: 'a' }],
    thought(1),
    call('c1'),
    result('c1'),
    ['turn_continued', {}],
    ['turn_finished', {}],
  );
  const some = fc.array(pairs, { maxLength: 12 });
  const compacted = ['history_compacted', { summary: 'What was said.' }];
  fc.assert(
    fc.property(some, some, (before, after) => {
      const [summary, ...rest] = fold(events(...before, ['turn_finished', {}], compacted, ...after));
      assert.match(JSON.stringify(summary), /summary.*What was said\./);
      assert.deepEqual(rest, fold(events(...after)));
    }),
  );
  const inTurn = [['turn_started', {}], ['user_message', said('go')], call('c1'), result('c1'), compacted, call('c2')];
  const [summary, ...rest] = fold(events(...inTurn, result('c2')));
  assert.match(JSON.stringify(summary), /What was said\./);
  assert.deepEqual(rest, [
    { type: 'user', content: [{ type: 'text', text: 'go' }] },
    { type: 'tool_call', callId: 'c2', name: 'read', args: { path: 'a' } },
    { type: 'tool_result', callId: 'c2', output: 'text' },
  ]);
});
