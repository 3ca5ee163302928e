import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../src/core/event.ts';
import type { ProviderEvent } from '../../src/core/provider.ts';
import { responsesReader } from '../../src/providers/openai-stream.ts';
import { answerOf, assertWellFormed, itemsOf } from '../contracts/provider.ts';
import { responsesBlocks } from '../support/fake-openai-responses.ts';
import { call, type ModelStep, message, thought } from '../support/fake-openai-steps.ts';
import { HTTP_DIALECTS, httpRig } from './rigs.ts';

type Chunk = { type: string; output_index?: number };

const STEPS: ModelStep[] = [
  thought('Où ', 'donc?'),
  message('Voilà ', '🌍 ', 'ça.'),
  call('c1', 'read', { path: 'é' }),
];
const ITEMS = [
  { thought: 'Où \n\ndonc?' },
  { message: 'Voilà 🌍 ça.' },
  { call: 'c1', name: 'read', args: { path: 'é' } },
];

function read(chunks: readonly object[]): ProviderEvent[] {
  const reader = responsesReader(null);
  const events = chunks.flatMap((chunk) => reader.take(chunk));
  assertWellFormed(events);
  return events;
}

/** The chunks of an answer, as the package hands them over. */
function chunksOf(...steps: ModelStep[]): Chunk[] {
  return [...responsesBlocks(steps)].map((block) => JSON.parse(String(block).split('\ndata: ')[1] ?? ''));
}

const delta = (output_index: number, text: string) => ({
  type: 'response.output_text.delta',
  output_index,
  delta: text,
});
const done = (output_index: number, item: Json) => ({ type: 'response.output_item.done', output_index, item });
const said = (text: string) => ({ type: 'message', content: [{ type: 'output_text', text }] });
const completed = { type: 'response.completed', response: {} };

for (const dialect of HTTP_DIALECTS) {
  test(`[P11] [PROV1] ${dialect}: an answer that comes byte by byte is the same answer`, async () => {
    await using rig = await httpRig(dialect);
    rig.fake.slice = (bytes) => Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
    rig.will(message('Voilà ', '🌍'), call('c1', 'read', { path: 'é' }));
    assert.deepEqual(itemsOf(await answerOf(rig.provider)), [{ message: 'Voilà 🌍' }, ITEMS[2]]);
  });

  test(`[P11] [PROV1] ${dialect}: however an answer is cut into chunks, it is the same answer`, async () => {
    await using rig = await httpRig(dialect);
    const expected = dialect === 'openai' ? ITEMS : [{ thought: 'Où donc?' }, ...ITEMS.slice(1)];
    const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 20 });
    const property = fc.asyncProperty(sizes, async (lengths) => {
      rig.fake.slice = (bytes) => slices(bytes, lengths);
      rig.will(...STEPS);
      assert.deepEqual(itemsOf(await answerOf(rig.provider)), expected);
    });
    await fc.assert(property, { numRuns: 15 });
  });
}

function* slices(bytes: Buffer, lengths: number[]): Generator<Buffer> {
  for (let start = 0, turn = 0; start < bytes.length; turn += 1) {
    const end = start + (lengths[turn % lengths.length] ?? 1);
    yield bytes.subarray(start, end);
    start = end;
  }
}

test('[PROV1] items that a server mixes come one after the other, none lost, in the order they began', () => {
  const order = fc.infiniteStream(fc.nat({ max: 2 }));
  const property = fc.property(order, (choices) => {
    const all = chunksOf(message('a', 'b', 'c'), thought('x', 'y'), message('1', '2'));
    const ends = all.filter((chunk) => chunk.type === 'response.completed');
    const lanes = [0, 1, 2].map((place) => all.filter((chunk) => chunk.output_index === place));
    // The items begin in order; after that anything goes.
    const mixed = lanes.flatMap((lane) => lane.splice(0, 1));
    while (lanes.some((lane) => lane.length > 0)) {
      const lane = lanes[choices.next().value];
      mixed.push(...(lane?.splice(0, 1) ?? []));
    }
    const items = itemsOf(read([...mixed, ...ends])).map((item) => JSON.stringify(item));
    assert.deepEqual(new Set(items), new Set(['{"message":"abc"}', '{"thought":"x\\n\\ny"}', '{"message":"12"}']));
  });
  fc.assert(property, { numRuns: 100 });
});

test('[PROV11] a reasoning item is kept verbatim, with what we do not know of', () => {
  const item = {
    id: 'rs_1',
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'Hm.', extra: [1] }],
    new: { a: null },
  };
  assert.deepEqual(read([done(0, item), completed])[0], {
    type: 'reasoning',
    item,
    dialect: 'openai',
    summary: 'Hm.',
  });
});

test('[PROV1] the parts of a summary are paragraphs, and open reasoning text is a thought too', () => {
  const summary = (summary_index: number, text: string) => ({
    type: 'response.reasoning_summary_text.delta',
    output_index: 0,
    summary_index,
    delta: text,
  });
  const events = read([
    summary(0, 'One '),
    summary(0, 'thing.'),
    summary(1, 'Another.'),
    done(0, { type: 'reasoning', summary: [] }),
    { type: 'response.reasoning_text.delta', output_index: 1, content_index: 0, delta: 'Aloud.' },
    done(1, { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Aloud.' }] }),
    completed,
  ]);
  assert.deepEqual(itemsOf(events), [{ thought: 'One thing.\n\nAnother.' }, { thought: 'Aloud.' }]);
});

test('[PROV1] what was shown of a message is never taken back; only a missing end is added', () => {
  assert.deepEqual(itemsOf(read([delta(0, 'Hel'), done(0, said('Hello')), completed])), [{ message: 'Hello' }]);
  assert.deepEqual(itemsOf(read([delta(0, 'Hello'), done(0, said('Bye')), completed])), [{ message: 'Hello' }]);
  assert.deepEqual(itemsOf(read([done(0, said('No deltas')), completed])), [{ message: 'No deltas' }]);
  assert.deepEqual(itemsOf(read([done(0, said('')), completed])), []);
});

test('[PROV1] items that the server never completed are what was streamed of them', () => {
  const aloud = { type: 'response.reasoning_text.delta', output_index: 0, delta: 'Hm' };
  const events = read([aloud, delta(1, 'Half'), completed]);
  assert.deepEqual(itemsOf(events), [{ thought: 'Hm' }, { message: 'Half' }]);
  assert.deepEqual(events.find((event) => event.type === 'reasoning')?.item, null);
});

test('[PROV1] a server that gives every item the same number loses none', () => {
  const chunks = chunksOf(thought('Hm.'), message('a'), message('b'), call('c1', 'read', {}));
  const events = read(chunks.map((chunk) => ({ ...chunk, output_index: 0 })));
  assert.deepEqual(itemsOf(events), [
    { thought: 'Hm.' },
    { message: 'a' },
    { message: 'b' },
    { call: 'c1', name: 'read', args: {} },
  ]);
});

test('[PROV13] a call that the output limit cut is not handed on', () => {
  const cut = done(0, { type: 'function_call', status: 'incomplete', call_id: 'c1', name: 'read', arguments: '{}' });
  const events = read([cut, { type: 'response.incomplete', response: { incomplete_details: null } }]);
  assert.deepEqual(events, [{ type: 'finished', reason: 'max_tokens', usage: null }]);
});

test('[P12] [PROV13] a call without a usable name or id is invalid_response', () => {
  for (const identity of [
    { call_id: 'c1' },
    { name: 'read' },
    { call_id: 'c1', name: 'read file' },
    { call_id: '', name: 'read' },
  ]) {
    assert.throws(() => read([done(0, { type: 'function_call', arguments: '{}', ...identity })]), {
      code: 'invalid_response',
    });
  }
});

test('[PROV4] an event that is not of the API is no event', () => {
  for (const chunk of [42, null, {}, { type: 'response.output_text.delta' }, { type: 'response.completed' }]) {
    assert.throws(() => responsesReader(null).take(chunk), { name: 'ZodError' });
  }
  assert.deepEqual(read([{ type: 'response.queued' }, { type: 'constructor' }, { type: '__proto__' }]), []);
});

test('[PROV1] counts that a server leaves out or gets wrong are zero', () => {
  const usage = { input_tokens: 5, output_tokens: null, input_tokens_details: { cached_tokens: -1 } };
  assert.deepEqual(read([{ type: 'response.completed', response: { usage } }]).at(-1), {
    type: 'finished',
    reason: 'stop',
    usage: { input: 5, cached: 0, output: 0, reasoning: 0 },
  });
});
