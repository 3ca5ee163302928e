import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recentEntries } from '../../src/core/recent.ts';
import { eventOf } from '../support/events.ts';

const entry = (seq: number, size: number) => ({ event: eventOf('turn_continued', {}, seq), chk: '', size });

test('recent entries are kept up to a number and a size, and what is not here is not made up', () => {
  const recent = recentEntries();
  const seqs = (after: number, limit: number) => recent.read(after, limit)?.map(({ event }) => event.seq);
  assert.equal(seqs(-1, 10), undefined);
  for (let seq = 5; seq < 305; seq++) recent.push(entry(seq, 100));
  assert.equal(seqs(47, 1), undefined);
  assert.deepEqual(seqs(48, 2), [49, 50]);
  assert.deepEqual([seqs(302, 10), seqs(303, 10), seqs(304, 10)], [[303, 304], [304], []]);
  recent.push(entry(305, 2 ** 20 - 250));
  assert.deepEqual(seqs(302, 10), [303, 304, 305]);
  assert.equal(seqs(301, 10), undefined);
  recent.push(entry(306, 2 ** 20 + 1));
  assert.equal(seqs(305, 1), undefined);
  recent.push(entry(307, 100));
  assert.deepEqual(seqs(306, 1), [307]);
});
