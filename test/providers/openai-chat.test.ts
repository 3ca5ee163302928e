import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryItem, ProviderEvent } from '../../src/core/provider.ts';
import { chatReader } from '../../src/providers/openai-chat-stream.ts';
import { assertWellFormed, itemsOf, USER_ASKS } from '../contracts/provider.ts';

interface Fragment {
  index?: number | null;
  id?: string | null;
  function?: { name?: string | null; arguments?: string | null };
}

const chunk = (delta: object, finish_reason: string | null = null) => ({ choices: [{ delta, finish_reason }] });
const stop = chunk({}, 'stop');

function read(chunks: readonly object[], history: HistoryItem[] = []): ProviderEvent[] {
  const reader = chatReader({ ...USER_ASKS, history }, null);
  const events = [...chunks.flatMap((raw) => reader.take(raw)), ...(reader.end() ?? [])];
  assertWellFormed(events);
  return events;
}

function callsFrom(...fragments: Fragment[]) {
  const chunks = fragments.map((fragment) => chunk({ tool_calls: [fragment] }));
  return read([...chunks, chunk({}, 'tool_calls')]).flatMap((event) => (event.type === 'tool_call' ? [event] : []));
}

const argsFrom = (...fragments: Fragment[]) => callsFrom(...fragments).map((made) => [made.callId, made.args]);
const fn = (name: string | null, args: string | null) => ({ name, arguments: args });

test('[PROV16] fragments are assembled by their number', () => {
  assert.deepEqual(
    argsFrom(
      { index: 0, id: 'a', function: fn('read', '') },
      { index: 1, id: 'b', function: fn('read', '{"p":') },
      { index: 0, function: { arguments: '{"p":1}' } },
      { index: 1, function: { arguments: '2}' } },
    ),
    [
      ['a', { p: 1 }],
      ['b', { p: 2 }],
    ],
  );
});

test('[PROV16] calls that a server all numbers 0, or not at all, stay apart', () => {
  for (const index of [0, null, undefined]) {
    const number = index === undefined ? {} : { index };
    assert.deepEqual(
      argsFrom(
        { ...number, id: 'a', function: fn('read', '{"p":1}') },
        { ...number, id: 'b', function: fn('read', '{"p":') },
        { ...number, function: { arguments: '2}' } },
      ),
      [
        ['a', { p: 1 }],
        ['b', { p: 2 }],
      ],
    );
  }
});

test('[PROV16] calls without ids get ids of their own', () => {
  const made = callsFrom(
    { index: 0, id: '', function: fn('read', '{"p":1}') },
    { index: 0, id: null, function: fn('list', '{"p":2}') },
    { function: fn('bash', null) },
  );
  assert.deepEqual(
    made.map((call) => [call.name, call.args]),
    [
      ['read', { p: 1 }],
      ['list', { p: 2 }],
      ['bash', {}],
    ],
  );
  assert.equal(new Set(made.map((call) => call.callId)).size, 3);
  for (const call of made) assert.match(call.callId, /^call_[0-9a-f]{16}$/);
});

test('[PROV16] a new id on every fragment, or the name again, begins no new call', () => {
  assert.deepEqual(
    argsFrom(
      { index: 0, id: 'a', function: fn('read', '{"p"') },
      { index: 0, id: 'x', function: fn(null, ':') },
      { index: 0, id: 'a', function: fn('read', '1}') },
    ),
    [['a', { p: 1 }]],
  );
});

test('[PROV16] an id that was used before is replaced: some servers count from 0 in every answer', () => {
  const history: HistoryItem[] = [{ type: 'tool_call', callId: 'call_0', name: 'read', args: {} }];
  const fragment = { index: 0, id: 'call_0', function: fn('read', '{}') };
  const [made] = read([chunk({ tool_calls: [fragment] }), stop], history);
  assert.ok(made?.type === 'tool_call' && made.callId !== 'call_0' && made.callId !== '');
});

test('[PROV13] chat: a cut call is not handed on, a call without a usable name fails', () => {
  const cut = { index: 1, id: 'b', function: fn('read', '{"p":') };
  const whole = { index: 0, id: 'a', function: fn('read', '{"p":1}') };
  const events = read([chunk({ tool_calls: [whole, cut] }), chunk({}, 'length')]);
  assert.deepEqual(itemsOf(events), [{ call: 'a', name: 'read', args: { p: 1 } }]);
  assert.throws(() => callsFrom({ index: 0, id: 'a', function: fn('', '{}') }), { code: 'invalid_response' });
});

test('[PROV1] chat: both names for thoughts; a thought is complete when the answer begins', () => {
  assert.deepEqual(itemsOf(read([chunk({ reasoning_content: 'Hm' }), chunk({ content: 'Yes.' }), stop])), [
    { thought: 'Hm' },
    { message: 'Yes.' },
  ]);
  const events = read([
    chunk({ reasoning: 'Hm', content: '' }),
    chunk({ content: 'Yes.' }),
    chunk({ reasoning: 'Or' }),
    stop,
  ]);
  assert.deepEqual(itemsOf(events), [{ thought: 'Hm' }, { message: 'Yes.' }, { thought: 'Or' }]);
  const completed = events.find((event) => event.type === 'reasoning');
  assert.deepEqual(completed, { type: 'reasoning', item: null, dialect: 'chat', summary: 'Hm' });
});

test('[PROV1] chat: text in the last chunk counts, and the usage may come with any chunk', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  assert.deepEqual(read([{ ...chunk({ content: 'Yes.' }, 'stop'), usage }, { usage: null }, { choices: [] }]), [
    { type: 'delta', kind: 'message', text: 'Yes.' },
    { type: 'message', text: 'Yes.' },
    { type: 'finished', reason: 'stop', usage: { input: 3, cached: 0, output: 2, reasoning: 0 } },
  ]);
});

test('[PROV4] chat: no finish reason, no end of the answer', () => {
  const reader = chatReader(USER_ASKS, null);
  reader.take(chunk({ content: 'and ' }));
  assert.equal(reader.end(), null);
});

test('[PROV4] chat: what is no chunk is no chunk', () => {
  for (const raw of [42, null, { choices: 'x' }, chunk({ content: 7 }), chunk({ tool_calls: [{ index: 'a' }] })]) {
    assert.throws(() => chatReader(USER_ASKS, null).take(raw), { name: 'ZodError' });
  }
});

test('[P13] [PROV9] chat: errors inside the stream, as servers send them', () => {
  const overflow = { object: 'error', code: 400, message: 'maximum context length is 4096' };
  const details = { status: 400, retryable: false, providerCode: '400' };
  assert.throws(() => read([overflow]), { code: 'context_overflow', details });
  assert.throws(() => read([chunk({}, 'error')]), { code: 'provider_http_error' });
});
