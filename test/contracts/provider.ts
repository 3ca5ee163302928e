/** The contract of the Provider port. Every provider runs it; what is asserted here is all that a Turn may rely on. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CoreError } from '../../src/core/errors.ts';
import type { Provider, ProviderEvent, ProviderRequest } from '../../src/core/provider.ts';
import { call, gate, type ModelStep, message, refusal, thought } from '../support/fake-openai-steps.ts';

export interface ProviderRig extends AsyncDisposable {
  provider: Provider;
  /** What the model does at the next call. */
  will(...steps: ModelStep[]): void;
  /** Resolves when the model's side saw the call end before its answer; null where there is no other side. */
  abandoned(): Promise<void> | null;
}

export function providerContract(name: string, rig: () => Promise<ProviderRig>): void {
  describe(`Provider contract: ${name}`, () => {
    answering(rig);
    ending(rig);
    failing(rig);
    stopping(rig);
  });
}

export const USER_ASKS: ProviderRequest = {
  model: 'model-1',
  effort: 'default',
  instructions: 'Be brief.',
  developerContext: 'The workspace root is "/work".',
  history: [{ type: 'user', content: [{ type: 'text', text: 'go' }] }],
  blobs: new Map(),
  tools: [{ name: 'read', description: 'Reads a file.', parameters: { type: 'object', properties: {} } }],
  cacheKey: 'px1:build:s1',
};

const NEVER = new AbortController().signal;

/** All that is left of a stream, also of one that was begun. */
export async function collect<T>(stream: AsyncIterable<T> | AsyncIterator<T>): Promise<T[]> {
  const items: T[] = [];
  const iterator = Symbol.asyncIterator in stream ? stream[Symbol.asyncIterator]() : stream;
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) items.push(next.value);
  return items;
}

/** Reads a whole answer and checks the order that the port promises. */
export async function answerOf(provider: Provider, request = USER_ASKS, signal = NEVER): Promise<ProviderEvent[]> {
  const events = await collect(provider.stream(request, signal));
  assertWellFormed(events);
  assert.equal(events.at(-1)?.type, 'finished');
  return events;
}

/** Reads until the answer fails; what came before is still in order and has no `finished`. */
export async function failureOf(
  provider: Provider,
  request = USER_ASKS,
  signal = NEVER,
): Promise<{ events: ProviderEvent[]; error: unknown }> {
  const events: ProviderEvent[] = [];
  try {
    for await (const event of provider.stream(request, signal)) events.push(event);
  } catch (error) {
    assertWellFormed(events);
    assert.ok(!events.some((event) => event.type === 'finished'), 'a failed answer has not finished');
    return { events, error };
  }
  throw new assert.AssertionError({ message: 'the answer should have failed' });
}

export async function failsWith(provider: Provider, code: string, request = USER_ASKS): Promise<CoreError> {
  const { error } = await failureOf(provider, request);
  assert.ok(error instanceof CoreError, String(error));
  assert.equal(error.code, code, error.message);
  return error;
}

/** Items never mix, a message equals its deltas, and nothing follows `finished`. */
export function assertWellFormed(events: readonly ProviderEvent[]): void {
  let kind: 'message' | 'thought' | null = null;
  let text = '';
  for (const [index, event] of events.entries()) {
    if (event.type === 'delta') {
      assert.ok(kind === null || kind === event.kind, 'an item began inside another');
      assert.notEqual(event.text, '', 'a delta without text');
      kind = event.kind;
      text += event.text;
      continue;
    }
    if (event.type === 'message') assert.deepEqual([kind, text], ['message', event.text]);
    else if (event.type === 'reasoning') assert.ok(kind === null || (kind === 'thought' && text === event.summary));
    else assert.equal(kind, null, `${event.type} inside an item`);
    if (event.type === 'finished') assert.equal(index, events.length - 1, 'something follows finished');
    kind = null;
    text = '';
  }
}

/** The completed items, without how they were streamed. */
export function itemsOf(events: readonly ProviderEvent[]): object[] {
  return events.flatMap((event): object[] => {
    if (event.type === 'message') return [{ message: event.text }];
    if (event.type === 'reasoning') return [{ thought: event.summary }];
    return event.type === 'tool_call' ? [{ call: event.callId, name: event.name, args: event.args }] : [];
  });
}

type RigFactory = () => Promise<ProviderRig>;

function answering(rig: RigFactory): void {
  test('[PROV1] text comes in deltas and then as one message, and the answer finishes once', async () => {
    await using r = await rig();
    r.will(message('Hel', 'lo, ', 'wörld 🌍'));
    assert.deepEqual(await answerOf(r.provider), [
      { type: 'delta', kind: 'message', text: 'Hel' },
      { type: 'delta', kind: 'message', text: 'lo, ' },
      { type: 'delta', kind: 'message', text: 'wörld 🌍' },
      { type: 'message', text: 'Hello, wörld 🌍' },
      { type: 'finished', reason: 'stop', usage: null },
    ]);
  });

  test('[PROV1] a thought, a message and two calls come one after the other', async () => {
    await using r = await rig();
    const calls = [call('c1', 'read', { path: 'a' }), call('c2', 'read', { path: 'b', deep: { list: [1, null] } })];
    r.will(thought('I should look.'), message('Let me ', 'look.'), ...calls);
    assert.deepEqual(itemsOf(await answerOf(r.provider)), [
      { thought: 'I should look.' },
      { message: 'Let me look.' },
      { call: 'c1', name: 'read', args: { path: 'a' } },
      { call: 'c2', name: 'read', args: { path: 'b', deep: { list: [1, null] } } },
    ]);
  });

  test('[P12] [PROV13] arguments that are no JSON object are handed on as they came', async () => {
    await using r = await rig();
    r.will(call('c1', 'read', '{"path": '), call('c2', 'read', '[1]'), call('c3', 'read', {}));
    const calls = itemsOf(await answerOf(r.provider));
    assert.deepEqual(
      calls.map((made) => 'args' in made && made.args),
      ['{"path": ', '[1]', {}],
    );
  });

  test('[PROV2] what the model said is handed on before it says more', async () => {
    await using r = await rig();
    const more = gate();
    r.will(message('first', more.passed, ' second'));
    const events = r.provider.stream(USER_ASKS, NEVER)[Symbol.asyncIterator]();
    assert.deepEqual((await events.next()).value, { type: 'delta', kind: 'message', text: 'first' });
    more.open();
    assert.deepEqual((await events.next()).value, { type: 'delta', kind: 'message', text: ' second' });
    await events.return?.();
  });

  test('[PROV1] a long answer comes whole', async () => {
    await using r = await rig();
    const words = Array.from({ length: 500 }, (_, index) => `word${index} `);
    r.will(message(...words));
    assert.deepEqual(itemsOf(await answerOf(r.provider)), [{ message: words.join('') }]);
  });
}

function ending(rig: RigFactory): void {
  test('[PROV1] an answer without anything just finishes', async () => {
    await using r = await rig();
    r.will();
    assert.deepEqual(await answerOf(r.provider), [{ type: 'finished', reason: 'stop', usage: null }]);
  });

  test('[PROV1] a refusal is shown as text and finishes as refusal', async () => {
    await using r = await rig();
    r.will(refusal('I will ', 'not.'));
    const events = await answerOf(r.provider);
    assert.deepEqual(itemsOf(events), [{ message: 'I will not.' }]);
    assert.deepEqual(events.at(-1), { type: 'finished', reason: 'refusal', usage: null });
  });

  test('[PROV1] an answer cut by the output limit finishes as max_tokens, with what there is', async () => {
    await using r = await rig();
    r.will({ ...message('half a sent'), open: true } as ModelStep, { type: 'incomplete', reason: 'max_output_tokens' });
    const events = await answerOf(r.provider);
    assert.deepEqual(itemsOf(events), [{ message: 'half a sent' }]);
    assert.deepEqual(events.at(-1), { type: 'finished', reason: 'max_tokens', usage: null });
  });

  test('[PROV1] an answer cut by a content filter finishes as refusal', async () => {
    await using r = await rig();
    r.will(message('well'), { type: 'incomplete', reason: 'content_filter' });
    assert.deepEqual((await answerOf(r.provider)).at(-1), { type: 'finished', reason: 'refusal', usage: null });
  });

  test('[PROV1] the usage comes with the end', async () => {
    await using r = await rig();
    const usage = { input: 120, cached: 100, output: 30, reasoning: 20 };
    r.will(message('ok'), { type: 'usage', usage });
    assert.deepEqual((await answerOf(r.provider)).at(-1), { type: 'finished', reason: 'stop', usage });
  });
}

function failing(rig: RigFactory): void {
  test('[PROV4] an answer that ends without its terminal event failed: network', async () => {
    await using r = await rig();
    r.will(message('and ', 'then'), { type: 'end' });
    const { events, error } = await failureOf(r.provider);
    assert.equal(error instanceof CoreError && error.code, 'network');
    assert.ok(events.length > 0, 'what came before was shown');
  });

  test('[PROV4] an answer whose connection breaks off failed: network', async () => {
    await using r = await rig();
    const read = gate();
    r.will(message('and ', read.passed), { type: 'cut' });
    const stream = r.provider.stream(USER_ASKS, NEVER)[Symbol.asyncIterator]();
    await stream.next();
    read.open();
    await assert.rejects(collect(stream), { code: 'network' });
  });

  test('[PROV4] data that cannot be read is invalid_response', async () => {
    await using r = await rig();
    r.will(message('well'), { type: 'garbage', data: '{"type": "response.' });
    await failsWith(r.provider, 'invalid_response');
  });

  test('[P13] [PROV9] an error inside the stream is a CoreError of the closed list', async () => {
    await using r = await rig();
    r.will(message('well'), { type: 'error', code: 'something_bad', message: 'It went\nwrong.' });
    const error = await failsWith(r.provider, 'provider_http_error');
    assert.equal(error.message, 'It went wrong.');
  });
}

function stopping(rig: RigFactory): void {
  test('[PROV3] an abort before the call rejects with its reason', async () => {
    await using r = await rig();
    const reason = new Error('stopped by the user');
    assert.deepEqual(await failureOf(r.provider, USER_ASKS, AbortSignal.abort(reason)), { events: [], error: reason });
  });

  test('[PROV3] an abort in the middle rejects at once with its reason and ends the request', async () => {
    await using r = await rig();
    r.will(message('I go on and '), { type: 'stall' });
    const stop = new AbortController();
    const events = r.provider.stream(USER_ASKS, stop.signal)[Symbol.asyncIterator]();
    await events.next();
    const abandoned = r.abandoned();
    const reason = new Error('stopped by the user');
    // Reads on until it waits for text that never comes.
    const rest = collect(events);
    stop.abort(reason);
    await assert.rejects(rest, (error) => error === reason);
    await abandoned;
  });

  test('[PROV3] nothing is handed on after an abort, not even what has already arrived', async () => {
    await using r = await rig();
    r.will(message('one ', 'two ', 'three'), call('c1', 'read', {}));
    const stop = new AbortController();
    const events = r.provider.stream(USER_ASKS, stop.signal)[Symbol.asyncIterator]();
    await events.next();
    stop.abort(new Error('enough'));
    await assert.rejects(events.next(), { message: 'enough' });
    assert.equal((await events.next()).done, true);
  });

  test('[PROV3] whoever leaves the answer ends the request', async () => {
    await using r = await rig();
    r.will(message('I go on and '), { type: 'stall' });
    for await (const event of r.provider.stream(USER_ASKS, NEVER)) {
      assert.equal(event.type, 'delta');
      break;
    }
    await r.abandoned();
  });
}
