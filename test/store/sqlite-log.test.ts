import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { EVENT_TYPES } from '../../src/core/event.ts';
import { openSqliteLog } from '../../src/store/sqlite-log.ts';
import { openReadOnly } from '../../src/store/sqlite-reader.ts';
import { logContract } from '../contracts/log.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { tempDir } from '../support/temp-dir.ts';
import { commitsInWal, sqliteFixture, tamper } from './sqlite-support.ts';
import { created, draftOf, everyDraft, failsWith, said, titled, turnStarted } from './support.ts';

logContract('SQLite', sqliteFixture, 20);

const clock = fakeClock();
const FULL = 2;

test('[STORE1] commits are synced to the disk: synchronous is FULL on every open, and after every write', async () => {
  await using fixture = await sqliteFixture();
  const synchronous = () => fixture.db.pragma('synchronous', { simple: true });
  assert.equal(synchronous(), FULL);
  await fixture.log.append([created('a')]);
  await fixture.log.append([said('a', 'x')]);
  assert.equal(synchronous(), FULL);
  assert.equal(fixture.db.pragma('journal_mode', { simple: true }), 'wal');
  assert.equal(fixture.db.pragma('foreign_keys', { simple: true }), 1);
});

test('[STORE1] why it is said on every open: left alone, SQLite falls back to NORMAL at the first write', async () => {
  await using temp = await tempDir();
  const db = new Database(join(temp.path, 'left-alone.db'));
  db.pragma('journal_mode = WAL');
  assert.equal(db.pragma('synchronous', { simple: true }), FULL);
  db.exec('CREATE TABLE t (a)');
  assert.notEqual(db.pragma('synchronous', { simple: true }), FULL);
  db.close();
});

test('[STORE2] writes that wait together are one transaction', async () => {
  await using fixture = await sqliteFixture();
  const { log, file } = fixture;
  const sessions = Array.from({ length: 50 }, (_, index) => `s${index}`);
  await Promise.all(sessions.map((name) => log.append([created(name)])));
  const before = { wal: commitsInWal(file), ...log.stats };
  await Promise.all([
    ...sessions.map((name) => log.append([said(name, 'one'), said(name, 'two')])),
    log.saveDraft('s0', draftOf('x')),
    log.append([said('s1', 'three')]),
  ]);
  assert.equal(commitsInWal(file) - before.wal, 1);
  assert.deepEqual(log.stats, { commits: before.commits + 1, writes: before.writes + 52 });
  for (const text of ['one by one', 'waiting each time']) await log.append([said('s0', text)]);
  assert.equal(commitsInWal(file) - before.wal, 3);
});

test('[STORE2] a refused write in a group costs the others nothing', async () => {
  await using fixture = await sqliteFixture();
  const { log, file } = fixture;
  await log.append([created('a')]);
  const before = commitsInWal(file);
  const [refused, kept] = await Promise.allSettled([log.append([created('a')]), log.append([said('a', 'x')])]);
  assert.deepEqual([refused?.status, kept?.status], ['rejected', 'fulfilled']);
  assert.equal(commitsInWal(file) - before, 1);
});

test('[LOG7] what is stored is JSON.stringify of the Event, key by key', async () => {
  await using fixture = await sqliteFixture();
  await fixture.log.append(everyDraft('a'));
  const stored = fixture.db.prepare<[], { json: string }>('SELECT json FROM events ORDER BY seq').all();
  const entries = await fixture.log.read('a', -1, 100);
  assert.equal(stored.length, EVENT_TYPES.length);
  for (const [index, { json }] of stored.entries()) {
    assert.equal(json, JSON.stringify(entries[index]?.event));
    assert.match(json, /^\{"id":"[0-9a-f]{16}","sessionId":"a","seq":\d+,"ts":"[^"]+","type":"\w+","data":\{/);
  }
});

test('[LOG1] [S16] [S22] after a restart everything is read as before, and seq goes on', async () => {
  await using fixture = await sqliteFixture();
  const recorded = await fixture.log.append([...everyDraft('a'), turnStarted('a', 'turn_9')]);
  await fixture.log.saveDraft('a', draftOf('half \ud83d'));
  const row = await fixture.log.session('a');
  await fixture.close();

  const log = openSqliteLog({ ...fixture, clock });
  assert.deepEqual(await log.read('a', -1, 100), recorded);
  assert.deepEqual(await log.session('a'), row);
  assert.deepEqual((await log.sessions({ openTurn: true })).length, 1);
  assert.deepEqual(await log.draft('a'), draftOf('half \ud83d'));
  const [next] = await log.append([said('a', 'x')]);
  assert.equal(next?.event.seq, recorded.length);
  assert.equal((await log.session('a'))?.head.epoch, row?.head.epoch);
  assert.partialDeepStrictEqual(await log.verifySession('a'), { ok: true, events: recorded.length + 1 });
  await log.close();
});

test('[STORE7] on a full disk every write that waits is refused, and the Log goes on when there is space', async () => {
  await using fixture = await sqliteFixture();
  const { log } = fixture;
  await log.append([created('a')]);
  await log.append([created('b'), said('b', 'before')]);
  await log.saveDraft('b', draftOf('before'));
  fixture.fillDisk();
  const results = await Promise.allSettled([
    log.append([said('b', 'small')]),
    log.append([created('c')]),
    log.append([said('a', 'x'.repeat(200_000))]),
    log.append([said('b', 'small too')]),
    log.saveDraft('b', draftOf('small')),
  ]);
  for (const result of results) {
    assert.equal(result.status, 'rejected');
    assert.ok(failsWith('log_write_failed', /the disk is full/)(result.status === 'rejected' && result.reason));
  }
  assert.deepEqual([(await log.session('a'))?.head.seq, (await log.session('b'))?.head.seq], [0, 1]);
  assert.equal(await log.session('c'), undefined);
  assert.deepEqual(await log.draft('b'), draftOf('before'));

  fixture.freeDisk();
  const again = await Promise.all([log.append([said('b', 'after')]), log.append([said('a', 'after')])]);
  assert.deepEqual(
    again.flat().map(({ event }) => event.seq),
    [2, 1],
  );
  await log.append([created('c')]);
  for (const name of ['a', 'b', 'c']) assert.equal((await log.verifySession(name)).ok, true);
});

test('[STORE6] [S21] a damaged Event is never read, and hurts no other Session', async () => {
  await using fixture = await sqliteFixture();
  const { log, db } = fixture;
  await log.append([created('a'), said('a', 'one'), said('a', 'two'), said('a', 'three')]);
  await log.append([created('b')]);
  for (const damage of [
    "UPDATE events SET json = 'garbage'",
    "UPDATE events SET json = 'null'",
    `UPDATE events SET json = replace(json, 'assistant_message', 'unheard_of')`,
    `UPDATE events SET json = replace(json, '"seq":2', '"seq":7')`,
    `UPDATE events SET json = replace(json, '"sessionId":"a"', '"sessionId":"b"')`,
    'DELETE FROM events',
  ]) {
    db.exec(`BEGIN; ${damage} WHERE session_id = 'a' AND seq = 2`);
    await assert.rejects(log.read('a', -1, 10), failsWith('log_corrupt', /event 2/), damage);
    await assert.rejects(log.read('a', 1, 10), failsWith('log_corrupt'), damage);
    assert.equal((await log.read('a', -1, 2)).length, 2);
    assert.equal((await log.read('b', -1, 10)).length, 1);
    const verification = await log.verifySession('a');
    assert.equal(!verification.ok && verification.firstBad.seq, 2, damage);
    db.exec('ROLLBACK');
  }
  assert.equal((await log.read('a', -1, 10)).length, 4);
});

test('[STORE6] nothing is appended to a Log that does not end where its Session says', async () => {
  await using fixture = await sqliteFixture();
  await fixture.log.append([created('a'), said('a', 'one')]);
  await fixture.log.append([created('b')]);
  await fixture.close();
  tamper(fixture.file, "DELETE FROM events WHERE session_id = 'a' AND seq = 1");

  const log = openSqliteLog({ ...fixture, clock });
  const [refused, kept] = await Promise.allSettled([log.append([said('a', 'x')]), log.append([said('b', 'x')])]);
  assert.ok(failsWith('log_corrupt')(refused?.status === 'rejected' && refused.reason));
  assert.equal(kept?.status, 'fulfilled');
  await log.close();
});

test('[STORE13] [DIR2] verify finds what reading does not: a changed word, a false row, a wrong check value', async () => {
  await using fixture = await sqliteFixture();
  const { log, db } = fixture;
  await log.append([created('a'), titled('a', 'one'), turnStarted('a'), said('a', 'hello'), said('a', 'more')]);
  await log.append([created('b', 'lone \ud800', '/w \udc00'), titled('b', '\ud800')]);
  assert.partialDeepStrictEqual(await log.verifySession('b'), { ok: true, events: 2 });
  const cases: [number, RegExp, string][] = [
    [3, /check value/, "UPDATE events SET json = replace(json, 'hello', 'jello') WHERE seq = 3"],
    [2, /check value/, "UPDATE events SET chk = '000000000000' WHERE seq = 2"],
    [3, /valid/, `UPDATE events SET json = replace(json, '"text"', '"texture"') WHERE seq = 3`],
    [0, /elsewhere/, `UPDATE events SET json = replace(json, '"a"', '"b"') WHERE seq = 0`],
    [
      0,
      /starts/,
      `UPDATE events SET json = (SELECT replace(json, '"seq":1', '"seq":0') FROM events WHERE seq = 1) WHERE seq = 0`,
    ],
    [1, /missing/, 'DELETE FROM events WHERE seq = 1'],
    [4, /missing/, 'DELETE FROM events WHERE seq = 4'],
    [5, /missing/, 'UPDATE sessions SET head_seq = 9'],
    [4, /head/, 'UPDATE sessions SET head_seq = 2'],
    [4, /head/, "UPDATE sessions SET head_chk = '000000000000'"],
    [4, /title/, "UPDATE sessions SET title = 'two'"],
    [4, /open Turn/, 'UPDATE sessions SET open_turn = NULL'],
    [4, /outcome/, "UPDATE sessions SET outcome = 'completed'"],
    [4, /directories/, `UPDATE sessions SET additional_directories = '["/x"]'`],
    [0, /owner/, "UPDATE sessions SET owner = 'eve'"],
  ];
  for (const [seq, reason, damage] of cases) {
    db.exec(`BEGIN; ${damage} ${damage.includes('WHERE') ? 'AND' : 'WHERE'} session_id = 'a'`);
    const verification = await log.verifySession('a');
    db.exec('ROLLBACK');
    assert.ok(!verification.ok, damage);
    assert.match(verification.firstBad.reason, reason, damage);
    assert.equal(verification.firstBad.seq, seq, damage);
  }
  assert.partialDeepStrictEqual(await log.verifySession('a'), { ok: true, events: 5 });
  await assert.rejects(log.verifySession('nobody'), failsWith('unknown_session'));
});

test('[STORE8] a read-only connection reads beside the writer, and without one', async () => {
  await using fixture = await sqliteFixture();
  const { log, reader } = fixture;
  await log.append([created('a'), said('a', 'one')]);
  assert.equal((await reader.read('a', -1, 10)).length, 2);
  assert.partialDeepStrictEqual(await reader.verifySession('a'), { ok: true, events: 2 });
  assert.deepEqual(await reader.verifyDatabase(), []);
  await log.append([said('a', 'two')]);
  assert.equal((await reader.sessions({}))[0]?.head.seq, 2);
  await fixture.close();
  const alone = openReadOnly(fixture);
  assert.equal((await alone.read('a', -1, 10)).length, 3);
  await alone.close();
});

test('[STORE14] the database and its companions are readable by their owner only', async () => {
  await using fixture = await sqliteFixture();
  await fixture.log.append([created('a')]);
  for (const suffix of ['', '-wal', '-shm']) assert.equal(statSync(fixture.file + suffix).mode & 0o777, 0o600);
});

test('[STORE15] closing commits what waits; what comes later is refused', async () => {
  await using fixture = await sqliteFixture();
  const { log } = fixture;
  const waiting = log.append([created('a')]);
  await log.close();
  assert.equal((await waiting).length, 1);
  await assert.rejects(log.append([said('a', 'x')]), failsWith('log_write_failed', /closed/));
  await assert.rejects(log.saveDraft('a', draftOf('x')), failsWith('log_write_failed', /closed/));
  assert.equal((await fixture.reader.read('a', -1, 10)).length, 1);
});

test('[STORE16] what was deleted is not in the file any more', async () => {
  await using fixture = await sqliteFixture();
  const { log, file } = fixture;
  const secret = 'correct horse battery staple ';
  await log.append([
    created('a', 'ada', secret),
    titled('a', secret),
    said('a', secret),
    said('a', secret.repeat(500)),
  ]);
  await log.saveDraft('a', draftOf(secret.repeat(300)));
  for (const times of [300, 30]) await log.saveSnapshot('a', { seq: 0, json: secret.repeat(times), chk: '' });
  await log.append([created('b'), said('b', 'kept')]);
  await log.deleteSession('a');
  await fixture.close();
  const bytes = readFileSync(file);
  assert.deepEqual([bytes.includes('correct horse'), bytes.includes('kept')], [false, true]);
});

test('[SNAP2] a snapshot that cannot be read is none', async () => {
  await using fixture = await sqliteFixture();
  const { log, db } = fixture;
  await log.append([created('a')]);
  await log.saveSnapshot('a', { seq: 0, json: '', chk: '' });
  db.exec('DROP TABLE snapshots');
  assert.equal(await log.snapshot('a'), undefined);
  assert.equal((await log.read('a', -1, 1)).length, 1);
});

test('[LOG4] the heads of more Sessions than are kept in memory are found again', async () => {
  await using fixture = await sqliteFixture();
  const { log } = fixture;
  const names = Array.from({ length: 1200 }, (_, index) => `s${index}`);
  await Promise.all(names.map((name) => log.append([created(name)])));
  for (const seq of [1, 2]) {
    const entries = await Promise.all(names.map((name) => log.append([said(name, 'x')])));
    assert.ok(entries.every(([entry]) => entry?.event.seq === seq));
  }
});
