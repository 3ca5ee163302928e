import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finish, say, think } from '../../src/providers/script.ts';
import { createScripted } from '../../src/providers/scripted.ts';
import { answerOf, assertWellFormed, collect, failsWith, itemsOf, USER_ASKS } from '../contracts/provider.ts';

const signal = new AbortController().signal;

test('[PROV17] a script is played call by call; one call too many fails', async () => {
  const provider = createScripted({
    script: [
      [...say('one'), finish()],
      [...say('two'), finish('max_tokens')],
    ],
  });
  assert.deepEqual(itemsOf(await answerOf(provider)), [{ message: 'one' }]);
  assert.deepEqual((await answerOf(provider)).at(-1), { type: 'finished', reason: 'max_tokens', usage: null });
  await failsWith(provider, 'invalid_response');
});

test('[PROV17] what was asked is kept as it was then', async () => {
  const provider = createScripted({ script: [[finish()], [finish()]] });
  const history = [...USER_ASKS.history];
  await answerOf(provider, { ...USER_ASKS, history });
  history.push({ type: 'assistant', text: 'more' });
  await answerOf(provider, { ...USER_ASKS, history });
  assert.deepEqual(
    provider.requests.map((request) => request.history.length),
    [1, 2],
  );
});

test('[PROV17] a gate holds every call that waits there, also when it was opened before', async () => {
  const steps = [{ type: 'wait' as const, gate: 'go' }, ...say('through'), finish()];
  const provider = createScripted({ script: [steps, steps] });
  const held = answerOf(provider);
  provider.open('go');
  assert.deepEqual(itemsOf(await held), [{ message: 'through' }]);
  assert.deepEqual(itemsOf(await answerOf(provider)), [{ message: 'through' }]);
});

test('[PROV17] a function answers every call with the request at hand', async () => {
  const provider = createScripted({
    async *script(request) {
      yield* [...say(request.model), finish()];
    },
  });
  assert.deepEqual(itemsOf(await answerOf(provider)), [{ message: 'model-1' }]);
});

test('[PROV17] words are whole, spaces are kept, nothing to say is nothing said', () => {
  const texts = say('Ein  Wort\nnoch ').map((event) => 'text' in event && event.text);
  assert.deepEqual(texts, ['Ein  ', 'Wort\n', 'noch ', 'Ein  Wort\nnoch ']);
  assertWellFormed([...think('Hm, so.'), ...say('   '), finish()]);
});

test('[PROV17] the pace lies between words, and an abort ends it', async () => {
  const provider = createScripted({
    script: [
      [...say('a b c'), finish()],
      [...say('a b c'), finish()],
    ],
    pace: 5,
  });
  const started = performance.now();
  assert.equal((await collect(provider.stream(USER_ASKS, signal))).length, 5);
  assert.ok(performance.now() - started >= 14);
  const slow = createScripted({ script: [[...say('a b c'), finish()]], pace: 60_000 });
  const stop = new AbortController();
  const answer = collect(slow.stream(USER_ASKS, stop.signal));
  const reason = new Error('enough');
  stop.abort(reason);
  await assert.rejects(answer, (error) => error === reason);
});
