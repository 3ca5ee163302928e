import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../src/core/clock.ts';
import { CoreError } from '../../src/core/errors.ts';
import { memoryLog } from '../../src/store/memory-log.ts';
import { type LogFixture, logContract } from '../contracts/log.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { created, failsWith, said } from './support.ts';

async function memoryFixture(clock: Pick<Clock, 'now'>): Promise<LogFixture> {
  const log = memoryLog(clock);
  return {
    log,
    reader: log,
    fillDisk: () => log.failNext(new CoreError('log_write_failed', 'the disk is full')),
    freeDisk: () => {},
    [Symbol.asyncDispose]: () => log.close(),
  };
}

logContract('memory', memoryFixture, 300);

test('[LOG3] an append in memory is not answered before the event loop has turned', async () => {
  const log = memoryLog(fakeClock());
  const order: string[] = [];
  const appended = log.append([created('a')]).then(() => order.push('recorded'));
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  order.push('microtasks done');
  assert.deepEqual(await log.read('a', -1, 1), []);
  await appended;
  assert.deepEqual(order, ['microtasks done', 'recorded']);
});

test('[LOG4] failNext refuses one append and no more', async () => {
  const log = memoryLog(fakeClock());
  await log.append([created('a')]);
  log.failNext(new CoreError('log_write_failed', 'the disk is full'));
  await assert.rejects(log.append([said('a', 'x')]), failsWith('log_write_failed'));
  const [entry] = await log.append([said('a', 'y')]);
  assert.equal(entry?.event.seq, 1);
});
