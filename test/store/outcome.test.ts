import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { migrate, readMigrations } from '../../src/store/migrate.ts';
import { stage } from '../../src/store/record.ts';
import { sqliteLog } from '../../src/store/sqlite-log.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { migrationsDir } from './sqlite-support.ts';
import { created, titled, turnFinished, turnStarted } from './support.ts';

test('[DIR2] an upgrade finds how the last Turn of each Session ended, and passes over what it cannot read', async () => {
  const clock = fakeClock();
  const db = new Database(':memory:');
  const known = readMigrations(migrationsDir);
  const before = known.findIndex(({ name }) => name === '0005_outcome.sql');
  migrate(db, known.slice(0, before), clock.now);
  const insertSession = db.prepare(`INSERT INTO sessions
    (session_id, workspace, owner, title, created_at, updated_at, epoch, head_seq, head_chk, open_turn)
    VALUES (?, '/w', 'ada', ?, '', '', 'e', ?, ?, ?)`);
  const insertEvent = db.prepare('INSERT INTO events (session_id, seq, json, chk) VALUES (?, ?, ?, ?)');
  const turn = (id: string, outcome?: 'failed' | 'cancelled') => [turnStarted(id), turnFinished(id, 'turn_1', outcome)];
  for (const { id, drafts, openTurn = null } of [
    { id: 'none', drafts: [] },
    { id: 'open', drafts: [...turn('open', 'failed'), turnStarted('open')], openTurn: 'turn_1' },
    { id: 'last', drafts: [...turn('last', 'failed'), ...turn('last', 'cancelled'), titled('last', 'turn_finished')] },
    { id: 'damaged', drafts: [...turn('damaged', 'failed'), ...turn('damaged')] },
  ]) {
    const { rows, head } = stage(undefined, [created(id), ...drafts], '2026-01-01T00:00:00.000Z');
    insertSession.run(id, id === 'last' ? 'turn_finished' : null, head.seq, head.chk, openTurn);
    for (const { seq, json, chk } of rows) insertEvent.run(id, seq, json, chk);
  }
  db.exec(`UPDATE events SET json = substr(json, 9) WHERE session_id = 'damaged' AND seq = 4`);
  migrate(db, known, clock.now);

  const log = sqliteLog(db, clock);
  const outcomes = (await log.sessions({})).map(({ sessionId, outcome }) => [sessionId, outcome]);
  assert.deepEqual(Object.fromEntries(outcomes), { none: null, open: 'failed', last: 'cancelled', damaged: 'failed' });
  for (const id of ['none', 'open', 'last']) assert.equal((await log.verifySession(id)).ok, true, id);
  await log.close();
});
