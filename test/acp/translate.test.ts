import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  chunkOf,
  permissionOutcome,
  permissionRequest,
  stopReason,
  updatesOf,
  type View,
} from '../../src/acp/translate.ts';
import type { Event, EventData, EventType } from '../../src/core/event.ts';
import { eventOf, said } from '../support/events.ts';

const view: View = { offset: 0, thoughts: true, compaction: false, blobs: new Map(), configOptions: () => [] };
const updates = <T extends EventType>(type: T, data: Partial<EventData[T]>, over: Partial<View> = {}) =>
  updatesOf(eventOf(type, data) as Event, { ...view, ...over });
const text = (value: string) => ({ type: 'text', text: value });

test('[T01] [T02] text and thoughts become chunks that carry their message id; no text is no chunk', () => {
  const chunk = { messageId: 'm1', content: text('hi') };
  assert.deepEqual(chunkOf('message', 'm1', 'hi'), [{ sessionUpdate: 'agent_message_chunk', ...chunk }]);
  assert.deepEqual(chunkOf('thought', 'm1', 'hi'), [{ sessionUpdate: 'agent_thought_chunk', ...chunk }]);
  assert.deepEqual(chunkOf('message', 'm1', ''), []);
});

test('[T03] a call is shown with what the tool declared', () => {
  const data = { callId: 'c1', name: 'read', title: 'read a.txt', kind: 'read' as const, args: { path: 'a.txt' } };
  assert.deepEqual(updates('tool_call', { ...data, locations: [{ path: '/w/a.txt' }] }), [
    {
      sessionUpdate: 'tool_call',
      toolCallId: 'c1',
      name: 'read',
      title: 'read a.txt',
      kind: 'read',
      status: 'in_progress',
      rawInput: { path: 'a.txt' },
      locations: [{ path: '/w/a.txt' }],
      _meta: { pixir: { at: '2026-01-01T00:00:00.000Z' } },
    },
  ]);
  assert.ok(!('locations' in (updates('tool_call', data)[0] ?? {})));
});

test('[T08] [T09] [T10] a result is completed or failed, with the text a person can use', () => {
  const shown = (data: Partial<EventData['tool_result']>) => {
    const [update] = updates('tool_result', { callId: 'c1', output: '', ok: false, ...data });
    return [update?.sessionUpdate === 'tool_call_update' && update.status, JSON.stringify(update)] as const;
  };
  assert.deepEqual(shown({ ok: true, output: 'out' })[0], 'completed');
  assert.match(shown({ output: 'exit 1' })[1], /"failed".*"exit 1"/);
  const error = { kind: 'io_error', message: 'no such file', details: { path: 'x' } };
  assert.match(shown({ error })[1], /"io_error: no such file"/);
  assert.ok(shown({ error })[1].includes(`"rawOutput":${JSON.stringify({ ok: false, error })}`));
  assert.match(shown({ ok: true, output: 'out' })[1], /"rawOutput":\{"ok":true\}/);
  assert.match(shown({ ok: true, diffs: [{ path: '/w/a', oldText: null, newText: 'x' }] })[1], /"type":"diff"/);
});

test('[T16] [B12] a plan is always the whole list', () => {
  const entries = [{ content: 'a', priority: 'high' as const, status: 'pending' as const }];
  assert.deepEqual(updates('plan', { entries }), [{ sessionUpdate: 'plan', entries }]);
});

test('[T18] what belongs to the runtime alone is not shown', () => {
  assert.deepEqual(updates('turn_started', {}), []);
  assert.deepEqual(updates('permission_decision', {}), []);
  assert.deepEqual(updates('provider_usage', { usage: null, contextWindow: 1_000 }), []);
  assert.deepEqual(updates('turn_finished', { outcome: 'completed', stopReason: 'end_turn' }), []);
});

test('[T19] [FEED6] messages are shown from the offset that was not seen live; thoughts only where wanted', () => {
  const content = said('hello').content as EventData['user_message']['content'];
  assert.deepEqual(updates('user_message', { messageId: 'u1', content }), [
    { sessionUpdate: 'user_message_chunk', messageId: 'u1', content: text('hello') },
  ]);
  assert.deepEqual(
    updates('assistant_message', { messageId: 'm', text: 'hello' }, { offset: 3 }),
    chunkOf('message', 'm', 'lo'),
  );
  assert.deepEqual(updates('assistant_message', { messageId: 'm', text: 'hello' }, { offset: 5 }), []);
  assert.deepEqual(updates('reasoning', { messageId: 't', summary: 'why' }, { thoughts: false }), []);
  assert.deepEqual(updates('reasoning', { messageId: 't', summary: 'why' }), chunkOf('thought', 't', 'why'));
});

test('[T20] [TURN5] a cancel wins over the way a Turn ended by itself', () => {
  assert.equal(stopReason('end_turn', false), 'end_turn');
  assert.equal(stopReason('refusal', false), 'refusal');
  assert.equal(stopReason('end_turn', true), 'cancelled');
  assert.equal(stopReason('cancelled', false), 'cancelled');
});

test('[T21] [PERM4] a permission offers to allow or reject once, and names itself', () => {
  const call = { callId: 'c1', name: 'write', title: 'write a.txt', kind: 'edit' as const, args: {} };
  const request = permissionRequest('s', { permissionId: 'p1', call, argsHash: 'h', expiresAt: 0 });
  assert.deepEqual(
    request.options.map(({ optionId, kind }) => [optionId, kind]),
    [
      ['allow', 'allow_once'],
      ['reject', 'reject_once'],
    ],
  );
  assert.deepEqual(
    [request.toolCall.toolCallId, request.toolCall.title, request.toolCall.kind],
    ['c1', 'write a.txt', 'edit'],
  );
  assert.deepEqual(request._meta, { pixir: { permissionId: 'p1', expiresAt: '1970-01-01T00:00:00.000Z' } });
});

test('[PERM13] always and never are offered by the whole text of the rule that they make', () => {
  const call = { callId: 'c1', name: 'write', title: 'write a.txt', kind: 'edit' as const, args: {} };
  const rule = { keyHash: 'h', text: '"write" on "a.txt"' };
  const { options } = permissionRequest('s', { permissionId: 'p1', call, argsHash: 'h', expiresAt: 0, rule });
  assert.deepEqual(
    options.map(({ optionId, kind, name }) => [optionId, kind, name]),
    [
      ['allow', 'allow_once', 'Allow'],
      ['always', 'allow_always', 'Always allow "write" on "a.txt"'],
      ['reject', 'reject_once', 'Reject'],
      ['never', 'reject_always', 'Always reject "write" on "a.txt"'],
    ],
  );
  const chosen = (optionId: string) => permissionOutcome({ outcome: { outcome: 'selected', optionId } }, { options });
  const choices = ['allow', 'always', 'reject', 'never', 'allow_always'].map((optionId) => {
    const { decision, remember } = chosen(optionId);
    return [decision, remember];
  });
  assert.deepEqual(choices, [
    ['allow', false],
    ['allow', true],
    ['deny', false],
    ['deny', true],
    ['deny', false],
  ]);
});

test('[T22] [PERM5] only the exact offer to allow allows', () => {
  const call = { callId: 'c1', name: 'write', title: 'write a.txt', kind: 'edit' as const, args: {} };
  const request = permissionRequest('s', { permissionId: 'p1', call, argsHash: 'h', expiresAt: 0 });
  const outcomeOf = (result: unknown) => permissionOutcome(result, request);
  const selected = (optionId: unknown) => outcomeOf({ outcome: { outcome: 'selected', optionId } }).decision;
  assert.equal(selected('allow'), 'allow');
  for (const optionId of ['reject', 'always', 'never', 'ALLOW', 'allow ', '', null, undefined, 1, ['allow']])
    assert.equal(selected(optionId), 'deny');
  assert.deepEqual(outcomeOf({ outcome: { outcome: 'cancelled' } }), { decision: 'deny', reason: 'cancelled' });
  for (const junk of [
    undefined,
    null,
    1,
    'allow',
    {},
    { outcome: 'allow' },
    { outcome: null },
    { optionId: 'allow' },
    [],
  ]) {
    assert.equal(outcomeOf(junk).decision, 'deny');
  }
});

test('[T23] usage shows how full the context is, where the window is known', () => {
  const usage = { input: 900, cached: 100, output: 50, reasoning: 10 };
  assert.deepEqual(updates('provider_usage', { usage, contextWindow: 1_000 }), [
    { sessionUpdate: 'usage_update', used: 950, size: 1_000 },
  ]);
  assert.deepEqual(updates('provider_usage', { usage, contextWindow: null }), []);
});

test('[B03] [B04] [TURN4] a failed Turn says why, as text', () => {
  const error = { kind: 'network', message: 'boom' };
  const [update] = updates('turn_finished', { outcome: 'failed', stopReason: 'end_turn', error });
  assert.deepEqual(update?.sessionUpdate === 'agent_message_chunk' && update.content, text('boom'));
});
