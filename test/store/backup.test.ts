import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSqliteLog } from '../../src/store/sqlite-log.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { sqliteFixture } from './sqlite-support.ts';
import { created, draftOf, failsWith, said } from './support.ts';

test('[STORE12] a backup beside a writer is one private file with all that was committed', async () => {
  await using fixture = await sqliteFixture();
  const { log, reader, dir } = fixture;
  const recorded = await log.append([created('a'), ...Array.from({ length: 200 }, (_, i) => said('a', `${i}`))]);
  await log.saveDraft('a', draftOf('so far'));
  await log.saveSnapshot('a', { seq: 200, json: '{}', chk: 'x' });
  const file = join(dir, 'copy.db');
  const writing = Array.from({ length: 50 }, (_, i) => log.append([created(`late ${i}`)]));
  await Promise.all([reader.backupTo(file), ...writing]);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.startsWith('copy')),
    ['copy.db'],
  );
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const writeVersion = readFileSync(file)[18];
  assert.equal(writeVersion, 1, 'a database without a WAL can be read from any medium');

  const restored = openSqliteLog({ ...fixture, file, clock: fakeClock() });
  assert.deepEqual(await restored.read('a', -1, 1000), recorded);
  assert.deepEqual(await restored.draft('a'), draftOf('so far'));
  assert.deepEqual(await restored.snapshot('a'), await log.snapshot('a'));
  for (const { sessionId } of await restored.sessions({})) {
    assert.equal((await restored.verifySession(sessionId)).ok, true);
  }
  const [next] = await restored.append([said('a', 'goes on')]);
  assert.equal(next?.event.seq, recorded.length);
  await restored.close();
});

test('[STORE12] a restored Session has a new epoch: clients of the old one start over', async () => {
  await using fixture = await sqliteFixture();
  const { log, dir } = fixture;
  await log.append([created('a')]);
  await log.append([created('b')]);
  await log.backupTo(join(dir, 'copy.db'));
  const restored = openSqliteLog({ ...fixture, file: join(dir, 'copy.db'), clock: fakeClock() });
  const epochs = [...(await log.sessions({})), ...(await restored.sessions({}))].map(({ head }) => head.epoch);
  assert.equal(new Set(epochs).size, 4);
  assert.equal((await restored.session('a'))?.head.chk, (await log.session('a'))?.head.chk);
  await restored.close();
});

test('[STORE12] a backup replaces no file, and a failed one leaves none', async () => {
  await using fixture = await sqliteFixture();
  const { log, reader, dir } = fixture;
  await log.append([created('a')]);
  const file = join(dir, 'precious');
  writeFileSync(file, 'mine');
  await assert.rejects(reader.backupTo(file), failsWith('already_exists', /another name/));
  await assert.rejects(reader.backupTo(fixture.file), failsWith('already_exists'));
  assert.equal(readFileSync(file, 'utf8'), 'mine');
  await assert.rejects(reader.backupTo(join(dir, 'none', 'copy.db')), failsWith('log_write_failed'));
  await fixture.close();
  await assert.rejects(reader.backupTo(join(dir, 'late.db')));
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.startsWith('late')),
    [],
  );
});
