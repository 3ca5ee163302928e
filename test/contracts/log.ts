/** The contract of the Log port. Every backend runs it; what is asserted here is all that the runtime may rely on. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Clock } from '../../src/core/clock.ts';
import { EVENT_TYPES, type EventDraft, parseEvent } from '../../src/core/event.ts';
import { chainCheck, type Entry, FIRST_CHK, type Log } from '../../src/core/log.ts';
import { created, draftOf, everyDraft, failsWith, said, titled, turnStarted } from '../store/support.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { modelProperty } from './log-model.ts';
import { counting, drafting, keepingSnapshots, listing } from './log-sessions.ts';

export interface LogFixture extends AsyncDisposable {
  log: Log & { deleteSession(sessionId: string): Promise<void> };
  /** Reads what is committed by another way than the Log under test, where the backend has one. */
  reader: Pick<Log, 'read' | 'session'>;
  /** From now on an append of a large Event fails as on a full disk. */
  fillDisk(): void;
  freeDisk(): void;
}

export type LogFactory = (clock: Pick<Clock, 'now'>) => Promise<LogFixture>;

/** @param runs how many random histories are compared with the model. */
export function logContract(name: string, factory: LogFactory, runs: number): void {
  describe(`Log contract: ${name}`, () => {
    appending(factory);
    refusing(factory);
    reading(factory);
    listing(factory);
    counting(factory);
    drafting(factory);
    keepingSnapshots(factory);
    modelProperty(factory, runs);
  });
}

function appending(factory: LogFactory): void {
  test('[LOG1] [S07] Events get seq 0, 1, 2... of their Session, an id each, and the time', async () => {
    const clock = fakeClock();
    await using fixture = await factory(clock);
    const { log } = fixture;
    const first = await log.append([created('a'), titled('a', 'one')]);
    clock.advance(1);
    const second = await log.append([said('a', 'two')]);
    const events = [...first, ...second].map(({ event }) => event);
    assert.deepEqual(
      events.map(({ seq, ts, type }) => [seq, ts, type]),
      [
        [0, '2026-01-01T00:00:00.000Z', 'session_created'],
        [1, '2026-01-01T00:00:00.000Z', 'session_titled'],
        [2, '2026-01-01T00:00:00.001Z', 'assistant_message'],
      ],
    );
    assert.equal(new Set(events.map(({ id }) => id)).size, 3);
    assert.deepEqual(await log.read('a', -1, 10), [...first, ...second]);
  });

  test('[LOG1] an append of nothing records nothing', async () => {
    await using fixture = await factory(fakeClock());
    assert.deepEqual(await fixture.log.append([]), []);
    assert.deepEqual(await fixture.log.sessions({}), []);
  });

  test('[LOG2] an append is recorded whole or not at all', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    await log.append([created('a')]);
    await assert.rejects(log.append([said('a', 'x'), created('a')]), failsWith('already_exists'));
    await assert.rejects(log.append([created('b'), created('b')]), failsWith('already_exists'));
    assert.equal((await log.read('a', -1, 10)).length, 1);
    assert.equal(await log.session('b'), undefined);
  });

  test('[LOG3] once an append is answered, every reader sees it', async () => {
    await using fixture = await factory(fakeClock());
    const { log, reader } = fixture;
    for (let seq = 0; seq < 5; seq += 1) {
      const entries = await log.append([seq === 0 ? created('a') : said('a', `${seq}`)]);
      assert.deepEqual(await reader.read('a', seq - 1, 10), entries);
      assert.equal((await reader.session('a'))?.head.seq, seq);
    }
  });

  test('[LOG7] every Event is chained to all before it', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    await log.append(everyDraft('a'));
    let chk = FIRST_CHK;
    for (const entry of await log.read('a', -1, 100)) {
      const { id, sessionId, seq, ts, type, data } = entry.event;
      chk = chainCheck(chk, id, JSON.stringify({ id, sessionId, seq, ts, type, data }));
      assert.equal(entry.chk, chk);
    }
    assert.equal((await log.session('a'))?.head.chk, chk);
  });

  test('[LOG11] what many Sessions append at once is recorded, each Session in its order', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
    await Promise.all(names.map((name) => log.append([created(name)])));
    const appends: Promise<Entry[]>[] = [];
    for (let turn = 0; turn < 10; turn += 1) {
      for (const name of names) appends.push(log.append([said(name, `${turn}`), said(name, `${turn} again`)]));
    }
    await Promise.all(appends);
    const expected = Array.from({ length: 10 }, (_, turn) => [`${turn}`, `${turn} again`]).flat();
    for (const name of names) assert.deepEqual(texts(await log.read(name, 0, 100)), expected);
  });
}

function refusing(factory: LogFactory): void {
  test('[LOG4] an append that fails records nothing, and the next takes its place', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    await log.append([created('a')]);
    fixture.fillDisk();
    await assert.rejects(log.append([said('a', 'x'.repeat(300_000))]), failsWith('log_write_failed'));
    fixture.freeDisk();
    const [entry] = await log.append([said('a', 'after')]);
    assert.equal(entry?.event.seq, 1);
    assert.deepEqual(texts(await log.read('a', 0, 10)), ['after']);
    assert.deepEqual((await log.session('a'))?.head.chk, entry?.chk);
  });

  test('[LOG5] a Session begins with session_created, once', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    await assert.rejects(log.append([said('a', 'x')]), failsWith('unknown_session'));
    await assert.rejects(log.append([titled('a', 'x'), created('a')]), failsWith('unknown_session'));
    await assert.rejects(log.saveDraft('a', draftOf('x')), failsWith('unknown_session'));
    await log.append([created('a')]);
    await assert.rejects(log.append([created('a')]), failsWith('already_exists'));
    assert.equal((await log.read('a', -1, 10)).length, 1);
  });

  test('[LOG11] an append that is refused disturbs none of those that wait with it', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    const results = await Promise.allSettled([
      log.append([created('a')]),
      log.append([said('nobody', 'x')]),
      log.append([said('a', 'one')]),
      log.append([created('a')]),
      log.append([said('a', 'two')]),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(texts(await log.read('a', 0, 10)), ['one', 'two']);
  });

  test('[LOG13] [S19] [S20] what is no canonical Event is refused, and no Session comes of it', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    for (const wrong of [
      { sessionId: 'a', type: 'text_delta', data: { chunk: 'x' } },
      { sessionId: 'a', type: 'plan', data: cyclic },
      { sessionId: 'a', type: 'plan', data: { turnId: 1n } },
      { ...said('b', 'of another Session') },
    ]) {
      const drafts = [created('a'), wrong as unknown as EventDraft];
      await assert.rejects(log.append(drafts), failsWith('log_write_failed'));
    }
    assert.equal(await log.session('a'), undefined);
    await log.append([created('a')]);
  });

  test('[LOG14] a deleted Session is gone, and its id is not given out again', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    await log.append([created('a'), turnStarted('a'), said('a', 'secret')]);
    await log.append([created('b')]);
    await log.saveDraft('a', draftOf('secret'));
    const late = [log.append([said('a', 'before')]), log.deleteSession('a'), log.append([said('a', 'after')])];
    const results = await Promise.allSettled(late);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected'],
    );
    assert.deepEqual(await log.read('a', -1, 10), []);
    assert.equal(await log.session('a'), undefined);
    assert.equal(await log.draft('a'), undefined);
    assert.deepEqual(
      (await log.sessions({})).map(({ sessionId }) => sessionId),
      ['b'],
    );
    await assert.rejects(log.append([created('a')]), failsWith('already_exists'));
    await assert.rejects(log.deleteSession('a'), failsWith('unknown_session'));
  });
}

function reading(factory: LogFactory): void {
  test('[LOG6] [S18] reading gives pages in order, and nothing for an unknown Session', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    await log.append([created('a'), ...Array.from({ length: 9 }, (_, index) => said('a', `${index + 1}`))]);
    const seqs = async (after: number, limit: number) =>
      (await log.read('a', after, limit)).map(({ event }) => event.seq);
    assert.deepEqual(await seqs(-1, 4), [0, 1, 2, 3]);
    assert.deepEqual(await seqs(3, 4), [4, 5, 6, 7]);
    assert.deepEqual(await seqs(7, 4), [8, 9]);
    assert.deepEqual(await seqs(9, 4), []);
    assert.deepEqual(await seqs(50, 4), []);
    assert.deepEqual(await seqs(-1, 0), []);
    assert.deepEqual(await log.read('nobody', -1, 10), []);
    assert.equal(await log.session('nobody'), undefined);
    assert.equal(await log.draft('nobody'), undefined);
  });

  test('[LOG1] [S18] every type of Event is read as it was recorded', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    const drafts = everyDraft('a');
    const recorded = await log.append(drafts);
    const read = await log.read('a', -1, 100);
    assert.deepEqual(read, recorded);
    assert.equal(read.length, EVENT_TYPES.length);
    for (const [index, { event }] of read.entries()) {
      assert.deepEqual(event.data, drafts[index]?.data);
      assert.deepEqual(parseEvent(event), event);
    }
  });

  test('[LOG12] text comes back to the code unit', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    const text = 'lone \ud83d, \u2028, \u0000, \ud83d\ude00, "\\ and \udc00';
    await log.append([created('a', 'ada \ud800', '/w \udc00'), titled('a', text), said('a', text)]);
    await log.saveDraft('a', { ...draftOf(text), messageId: 'msg_2' });
    assert.deepEqual(texts(await log.read('a', 1, 1)), [text]);
    assert.equal((await log.draft('a'))?.text, text);
    // A column of text holds Unicode only; the Event keeps what was said.
    const row = await log.session('a');
    assert.deepEqual([row?.title, row?.owner, row?.workspace], [text.toWellFormed(), 'ada \ufffd', '/w \ufffd']);
  });

  test('[LOG1] what was handed out is nobody else’s', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    const plan: EventDraft<'plan'> = { sessionId: 'a', type: 'plan', data: { turnId: 'turn_1', entries: [] } };
    const recorded = await log.append([created('a'), plan]);
    const before = structuredClone(recorded);
    plan.data.turnId = 'another';
    for (const { event } of await log.read('a', 0, 10)) if (event.type === 'plan') event.data.turnId = 'another';
    assert.deepEqual(recorded, before);
    assert.deepEqual(await log.read('a', -1, 10), before);
  });
}

function texts(entries: readonly Entry[]): string[] {
  return entries.map(({ event }) => (event.type === 'assistant_message' ? event.data.text : event.type));
}
