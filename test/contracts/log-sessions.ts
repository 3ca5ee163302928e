/** The part of the Log's contract that is not the Log itself: the rows of Sessions, their list, and the draft. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LiveDraft, Log } from '../../src/core/log.ts';
import { created, draftOf, failsWith, said, titled, turnFinished, turnStarted } from '../store/support.ts';
import { type FakeClock, fakeClock } from '../support/fake-clock.ts';
import type { LogFactory } from './log.ts';

export function listing(factory: LogFactory): void {
  test('[LOG8] [DIR2] the row of a Session follows its Events', async () => {
    const clock = fakeClock();
    await using fixture = await factory(clock);
    const { log } = fixture;
    const [first] = await log.append([created('a', 'ada', '/w')]);
    const createdAt = '2026-01-01T00:00:00.000Z';
    const row = await log.session('a');
    const epoch = row?.head.epoch ?? '';
    assert.match(epoch, /^[0-9a-f]{24}$/);
    assert.deepEqual(row, {
      sessionId: 'a',
      workspace: '/w',
      additionalDirectories: [],
      owner: 'ada',
      title: null,
      createdAt,
      updatedAt: createdAt,
      head: { epoch, seq: 0, chk: first?.chk },
      openTurnId: null,
      outcome: null,
    });
    clock.advance(1500);
    const entries = await log.append([titled('a', 'one'), titled('a', 'two'), turnStarted('a', 'turn_7')]);
    const head = { epoch, seq: 3, chk: entries[2]?.chk };
    const updated = { ...row, title: 'two', updatedAt: '2026-01-01T00:00:01.500Z', openTurnId: 'turn_7', head };
    assert.deepEqual(await log.session('a'), updated);
    await log.append([said('a', 'x')]);
    assert.equal((await log.session('a'))?.openTurnId, 'turn_7');
    await log.append([turnFinished('a', 'turn_7')]);
    assert.equal((await log.session('a'))?.openTurnId, null);
    await log.append([turnStarted('a', 'turn_8'), turnFinished('a', 'turn_8'), turnStarted('a', 'turn_9')]);
    assert.equal((await log.session('a'))?.openTurnId, 'turn_9');
    assert.equal((await log.session('a'))?.title, 'two');
    assert.equal((await log.session('a'))?.outcome, 'completed', 'that of the last one which has ended');
    const data = { turnId: 'turn_9', outcome: 'timed_out', stopReason: 'cancelled' } as const;
    await log.append([{ sessionId: 'a', type: 'turn_finished', data }]);
    await log.append([said('a', 'y')]);
    assert.equal((await log.session('a'))?.outcome, 'timed_out');
    for (const additionalDirectories of [['/x', '/y,z'], []]) {
      const directories = async () => (await log.session('a'))?.additionalDirectories;
      await log.append([{ sessionId: 'a', type: 'session_configured', data: { additionalDirectories } }]);
      await log.append([{ sessionId: 'a', type: 'session_configured', data: { mode: 'plan' } }]);
      assert.deepEqual(await directories(), additionalDirectories);
    }
  });

  test('[LOG9] Sessions are listed newest first, by owner, workspace and open Turn, in pages', async () => {
    const clock = fakeClock();
    await using fixture = await factory(clock);
    const { log } = fixture;
    await fillList(log, clock);
    const list = async (query: Parameters<Log['sessions']>[0]) =>
      (await log.sessions(query)).map(({ sessionId }) => sessionId).join('');
    assert.equal(await list({}), 'dafecb');
    assert.equal(await list({ owner: 'ada' }), 'daec');
    assert.equal(await list({ owner: 'ada', workspace: '/x' }), 'ec');
    assert.equal(await list({ workspace: '/x' }), 'fec');
    assert.equal(await list({ owner: 'nobody' }), '');
    assert.equal(await list({ openTurn: true }), 'a');
    assert.equal(await list({ openTurn: false }), 'dfecb');
    assert.equal(await list({ openTurn: true, owner: 'bob' }), '');
    assert.equal(await list({ limit: 0 }), '');
    const paged = await pages(log, 2);
    assert.deepEqual(paged, ['da', 'fe', 'cb']);
  });
}

export function counting(factory: LogFactory): void {
  test('[LOG17] Sessions are counted, in all and of one owner, as soon as they are recorded and until they are deleted', async () => {
    const clock = fakeClock();
    await using fixture = await factory(clock);
    const { log } = fixture;
    const counts = () => Promise.all([log.count(), log.count('ada'), log.count('bob'), log.count('')]);
    assert.deepEqual(await counts(), [0, 0, 0, 0]);
    await fillList(log, clock);
    assert.deepEqual(await counts(), [6, 4, 2, 0]);
    await assert.rejects(log.append([created('a', 'bob')]), failsWith('already_exists'));
    await log.deleteSession('a');
    assert.deepEqual(await counts(), [5, 3, 2, 0]);
  });
}

/** Six Sessions: c, e and f change in the same millisecond, then a, then d. */
async function fillList(log: Log, clock: FakeClock): Promise<void> {
  await log.append([created('a', 'ada', '/w')]);
  await log.append([created('b', 'bob', '/w')]);
  clock.advance(1);
  await log.append([created('c', 'ada', '/x')]);
  await log.append([created('f', 'bob', '/x')]);
  await log.append([created('e', 'ada', '/x')]);
  clock.advance(1);
  await log.append([turnStarted('a')]);
  clock.advance(1);
  await log.append([created('d', 'ada', '/w'), turnStarted('d'), turnFinished('d')]);
}

async function pages(log: Log, limit: number): Promise<string[]> {
  const found: string[] = [];
  for (let page = await log.sessions({ limit }); page.length > 0 && found.length < 10; ) {
    found.push(page.map(({ sessionId }) => sessionId).join(''));
    const before = page.at(-1);
    page = before ? await log.sessions({ limit, before }) : [];
  }
  return found;
}

export function keepingSnapshots(factory: LogFactory): void {
  test('[LOG16] a Session has one snapshot, the last that was saved', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    const first = { seq: 0, json: '{"a":"\\ud83d \u2028 é"}', chk: 'abc' };
    const second = { seq: 7, json: '', chk: '' };
    await assert.rejects(log.saveSnapshot('a', first), failsWith('unknown_session'));
    await log.append([created('a')]);
    await log.append([created('b')]);
    assert.equal(await log.snapshot('a'), undefined);
    assert.equal(await log.snapshot('nobody'), undefined);
    await log.saveSnapshot('a', first);
    assert.deepEqual(await log.snapshot('a'), first);
    await log.saveSnapshot('a', second);
    assert.deepEqual(await log.snapshot('a'), second);
    assert.equal(await log.snapshot('b'), undefined);
    assert.equal((await log.session('a'))?.head.seq, 0);
    await log.deleteSession('a');
    assert.equal(await log.snapshot('a'), undefined);
    await assert.rejects(log.saveSnapshot('a', first), failsWith('unknown_session'));
  });
}

export function drafting(factory: LogFactory): void {
  test('[LOG10] a Session has one draft, the last that was saved', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    await log.append([created('a')]);
    await log.append([created('b')]);
    assert.equal(await log.draft('a'), undefined);
    await log.saveDraft('a', draftOf('He'));
    await log.saveDraft('a', draftOf('Hello'));
    assert.deepEqual(await log.draft('a'), draftOf('Hello'));
    const thought: LiveDraft = { turnId: 'turn_1', messageId: 'msg_2', kind: 'thought', text: 'Hm' };
    await log.saveDraft('a', thought);
    assert.deepEqual(await log.draft('a'), thought);
    assert.equal(await log.draft('b'), undefined);
    assert.equal((await log.session('a'))?.head.seq, 0);
  });

  test('[LOG10] recording the message, or the end of the Turn, clears its draft', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    await log.append([created('a')]);
    await log.saveDraft('a', draftOf('Hello'));
    await log.append([said('a', 'another', 'msg_0'), titled('a', 'x')]);
    assert.deepEqual(await log.draft('a'), draftOf('Hello'));
    await log.append([said('a', 'Hello', 'msg_1')]);
    assert.equal(await log.draft('a'), undefined);

    const thought = { turnId: 'turn_1', messageId: 'msg_2', model: 'm', dialect: 'd', item: null, summary: '' };
    await log.saveDraft('a', { ...draftOf('Hm'), kind: 'thought', messageId: 'msg_2' });
    await log.append([{ sessionId: 'a', type: 'reasoning', data: thought }]);
    assert.equal(await log.draft('a'), undefined);

    await log.saveDraft('a', draftOf('never finished'));
    await log.append([turnFinished('a')]);
    assert.equal(await log.draft('a'), undefined);
  });

  test('[LOG10] a draft and the Event that clears it keep their order', async () => {
    await using fixture = await factory(fakeClock());
    const { log } = fixture;
    await log.append([created('a')]);
    await Promise.all([log.saveDraft('a', draftOf('Hel')), log.append([said('a', 'Hello', 'msg_1')])]);
    assert.equal(await log.draft('a'), undefined);
  });
}
