/**
 * A process that appends to four Sessions until it is killed or refused. It writes a line for every Event that was
 * acknowledged, and none before.
 *
 *     appender.ts FILE MIGRATIONS SIZE     SIZE: the text of each Event, in characters
 */
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { systemClock } from '../../src/core/clock.ts';
import { toCoreError } from '../../src/core/errors.ts';
import type { Entry } from '../../src/core/log.ts';
import { openSqliteLog } from '../../src/store/sqlite-log.ts';
import { created, draftOf, said } from './support.ts';

const [file = '', migrationsDir = '', size = '0'] = process.argv.slice(2);
const text = 'x'.repeat(Number(size));

function say(...words: (string | number)[]): void {
  writeSync(1, `${words.join(' ')}\n`);
}

function acknowledge(entries: readonly Entry[]): void {
  for (const { event, chk } of entries) say('ack', event.sessionId, event.seq, event.id, chk);
}

// A killed process would not keep what it compiled for the next one.
flushCompileCache();
say('opening');
const log = openSqliteLog({ file, migrationsDir, clock: systemClock });

async function appendTo(sessionId: string): Promise<void> {
  if (!(await log.session(sessionId))) acknowledge(await log.append([created(sessionId)]));
  for (;;) {
    const [entries] = await Promise.all([
      log.append([said(sessionId, text, 'msg_1'), said(sessionId, text, 'msg_2')]),
      log.saveDraft(sessionId, draftOf(text)),
    ]);
    acknowledge(entries);
  }
}

try {
  await Promise.all(['s1', 's2', 's3', 's4'].map(appendTo));
} catch (thrown) {
  say('refused', toCoreError(thrown).code);
  process.exit();
}
