/**
 * A process that fills a Log until it has ended by itself: several Sessions at once, drafts long enough for the WAL to be
 * checkpointed again and again, and now and then a restart. It must never say `ACK` before an append was answered.
 *
 *     workload.ts FILE MIGRATIONS [NORMAL]     NORMAL: with this `synchronous` instead of the store's own
 */
import { writeSync } from 'node:fs';
import { systemClock } from '../../../src/core/clock.ts';
import type { Log } from '../../../src/core/log.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { sqliteLog } from '../../../src/store/sqlite-log.ts';
import { created, draftOf, said } from '../../store/support.ts';

const SESSIONS = ['s1', 's2', 's3', 's4', 's5'];
const LIVES = 3;
const ROUNDS = 50;
const TEXT = 'x'.repeat(200);

const [file = '', migrationsDir = '', synchronous] = process.argv.slice(2);

/** @param size how many Events go into one append, so that the Sessions differ. */
async function work(log: Log, sessionId: string, size: number): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const drafts = Array.from({ length: size }, (_, n) => said(sessionId, TEXT, `msg_${n + 2}`));
    if (!(await log.session(sessionId))) drafts.unshift(created(sessionId));
    const entries = await log.append(drafts);
    writeSync(1, entries.map(({ event, chk }) => `ACK ${sessionId} ${event.seq} ${chk}\n`).join(''));
    await log.saveDraft(sessionId, draftOf(TEXT.repeat(10 * (round % 10))));
  }
}

for (let life = 0; life < LIVES; life++) {
  const db = openDatabase({ file, migrationsDir, clock: systemClock });
  if (synchronous) db.pragma(`synchronous = ${synchronous}`);
  const log = sqliteLog(db, systemClock);
  await Promise.all(SESSIONS.map((sessionId, index) => work(log, sessionId, 1 + (index % 3))));
  await log.close();
}
