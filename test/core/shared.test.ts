/** Work that is shared: how often it is done, and when it is given up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shared } from '../../src/core/shared.ts';
import { fakeClock } from '../support/fake-clock.ts';

/** Work in the test's hands. */
function works() {
  const begun: { key: string; signal: AbortSignal; resolve(value: string): void; reject(error: unknown): void }[] = [];
  const work = (key: string, signal: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    begun.push({ key, signal, resolve, reject });
    return promise;
  };
  return { begun, work };
}

const nobody = () => new AbortController().signal;

test('[FILES3] [TL3] who asks meanwhile shares the result, whoever asks later has it done anew', async () => {
  const { begun, work } = works();
  const get = shared(work);
  const both = [get('a', nobody()), get('a', nobody()), get('b', nobody())];
  assert.deepEqual(
    begun.map(({ key }) => key),
    ['a', 'b'],
  );
  begun[0]?.resolve('one');
  begun[1]?.resolve('two');
  assert.deepEqual(await Promise.all(both), ['one', 'one', 'two']);
  const third = get('a', nobody());
  begun[2]?.reject(new Error('broken'));
  await assert.rejects(third, /broken/);
  void get('a', nobody());
  assert.equal(begun.length, 4, 'a failure is not kept');
});

test('[FILES3] a result is shared for as long as it is kept', async () => {
  const clock = fakeClock();
  const { begun, work } = works();
  const get = shared(work, (forget) => void clock.after(5_000, forget));
  const first = get('a', nobody());
  begun[0]?.resolve('one');
  assert.deepEqual([await first, await get('a', nobody())], ['one', 'one']);
  clock.advance(5_000);
  void get('a', nobody());
  assert.equal(begun.length, 2);
});

test('[FILES3] [TL3] it is aborted when the last who waits gives up, who is answered when it has ended', async () => {
  const { begun, work } = works();
  const get = shared(work);
  const [one, two] = [new AbortController(), new AbortController()];
  const [first, second] = [get('a', one.signal), get('a', two.signal)];
  one.abort();
  await assert.rejects(first, { name: 'AbortError' });
  assert.equal(begun[0]?.signal.aborted, false, 'somebody still waits');
  let answered = false;
  second.catch(() => undefined).finally(() => (answered = true));
  two.abort();
  await new Promise(setImmediate);
  assert.deepEqual([begun[0]?.signal.aborted, answered], [true, false]);
  const third = get('a', nobody());
  assert.equal(begun.length, 2, 'what is being aborted is nobody’s any more');
  begun[0]?.reject(new Error('aborted'));
  await assert.rejects(second, { name: 'AbortError' });
  begun[1]?.resolve('fresh');
  assert.equal(await third, 'fresh');
  await assert.rejects(get('a', AbortSignal.abort()), { name: 'AbortError' });
});
