/** The timeline's pure parts: families and filter, what is said of the chain, and reading the Log without a gap. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { LoggedEvent } from '../../src/client/connect.ts';
import { EVENT_TYPES } from '../../src/core/event.ts';
import { chainOf, chainText } from '../../web/src/timeline/chain.ts';
import { FAMILIES, familyOf, isFiltering, matcherOf, NO_FILTER } from '../../web/src/timeline/families.ts';
import { LogReader, type ReadLog } from '../../web/src/timeline/log-reader.ts';

const logged = (seq: number, type = 'user_message'): LoggedEvent => ({
  seq,
  id: `id${seq}`,
  type,
  ts: '2026-01-01T00:00:00.000Z',
  size: 10,
  chk: `chk${seq}`,
  by: 'ada',
});

test('every type of Event has a family, and one that is not known another', () => {
  for (const type of EVENT_TYPES) assert.notEqual(familyOf(type), 'other', type);
  assert.equal(familyOf('something_new'), 'other');
  assert.ok(FAMILIES.includes('other'));
});

test('a filter takes a family and words', () => {
  const tool = logged(3, 'tool_call');
  assert.equal(isFiltering(NO_FILTER), false);
  assert.equal(isFiltering({ family: 'all', text: ' ' }), false);
  assert.equal(matcherOf(NO_FILTER)(tool), true);
  assert.equal(matcherOf({ family: 'tool', text: '' })(tool), true);
  assert.equal(matcherOf({ family: 'turn', text: '' })(tool), false);
  assert.equal(matcherOf({ family: 'all', text: 'ADA tool' })(tool), true);
  assert.equal(matcherOf({ family: 'all', text: 'chk3' })(tool), true);
  assert.equal(matcherOf({ family: 'all', text: 'ada turn' })(tool), false);
});

test('what is said of the chain is what was found', () => {
  const intact = chainOf({ ok: true, events: 10_000, chk: '3f2a00000000' });
  assert.equal(chainText(intact, 10_000), '10,000 Events, chain intact, head 3f2a00000000');
  assert.equal(chainText(intact, 10_002), '10,000 Events, chain intact, head 3f2a00000000; 2 more since');
  const broken = chainOf({ ok: false, events: 9, firstBad: { seq: 4, reason: 'check value' } });
  assert.equal(chainText(broken, 9), 'The chain breaks at Event 4: check value');
  assert.equal(chainText({ kind: 'unverified' }, 1), '1 Event, not verified yet');
});

suite('reading the Log', () => {
  function fakeLog(length: number, epoch = 'e1') {
    const log = { length, epoch, fails: false, reads: 0 };
    const read: ReadLog = async ({ before = Number.POSITIVE_INFINITY, limit }) => {
      log.reads++;
      if (log.fails) throw new Error('no');
      const end = Math.min(before, log.length);
      const from = Math.max(0, end - limit);
      const events = Array.from({ length: end - from }, (_, index) => logged(from + index));
      return { events, before: from > 0 ? from : null, epoch: log.epoch };
    };
    return { log, reader: new LogReader(read) };
  }
  const seqs = (reader: LogReader) => reader.view.get().events.map(({ seq }) => seq);
  const downFrom = (seq: number, to = 0) => Array.from({ length: seq - to + 1 }, (_, index) => seq - index);

  test('begins at the end and goes back to the beginning, newest first', async () => {
    const { reader } = fakeLog(1_500);
    await reader.newer();
    assert.equal(reader.total, 1_500);
    assert.equal(reader.view.get().hasOlder, true);
    await reader.readTo(0);
    assert.deepEqual(seqs(reader), downFrom(1_499));
    assert.equal(reader.view.get().hasOlder, false);
  });

  test('goes back no further than it must', async () => {
    const { reader } = fakeLog(5_000);
    await reader.newer();
    await reader.readTo(4_700);
    assert.equal(seqs(reader).at(-1), 4_300);
  });

  test('what is new is put in front, without a gap, however much it is', async () => {
    const { log, reader } = fakeLog(300);
    await reader.newer();
    log.length = 301;
    await reader.newer();
    log.length = 2_000;
    await Promise.all([reader.newer(), reader.older(), reader.newer()]);
    assert.deepEqual(seqs(reader), downFrom(1_999));
  });

  test('several wishes for the same are one', async () => {
    const { log, reader } = fakeLog(5_000);
    await Promise.all([reader.newer(), reader.newer(), reader.newer()]);
    assert.equal(log.reads, 1);
  });

  test('another Log begins anew', async () => {
    const { log, reader } = fakeLog(10);
    await reader.newer();
    log.epoch = 'e2';
    log.length = 3;
    await reader.newer();
    assert.deepEqual(seqs(reader), [2, 1, 0]);
  });

  test('a failure is said, keeps what is there, and is over when it works again', async () => {
    const { log, reader } = fakeLog(10);
    await reader.newer();
    log.fails = true;
    log.length = 11;
    await reader.newer();
    assert.equal(reader.view.get().error, 'no');
    assert.deepEqual(seqs(reader), downFrom(9));
    log.fails = false;
    await reader.newer();
    assert.equal(reader.view.get().error, undefined);
    assert.deepEqual(seqs(reader), downFrom(10));
  });
});
