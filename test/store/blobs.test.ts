import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { memoryLog } from '../../src/store/memory-log.ts';
import { openSqliteLog } from '../../src/store/sqlite-log.ts';
import { BYTES, blobsContract, sha256, showing } from '../contracts/blobs.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { sqliteFixture } from './sqlite-support.ts';
import { created, failsWith } from './support.ts';

blobsContract('SQLite', sqliteFixture);
blobsContract('memory', async () => {
  const log = memoryLog(fakeClock());
  return { log, [Symbol.asyncDispose]: () => log.close() };
});

/** Too long to lie inside a page by chance, and to be found by a search for its middle. */
const LONG = Buffer.from('canary '.repeat(5_000));

test('[CONT4] the same bytes are one row, however often and in however many Sessions', async () => {
  await using fixture = await sqliteFixture();
  const { log, db } = fixture;
  await Promise.all(['a', 'b', 'c'].map((name) => log.append([created(name)])));
  await Promise.all(['a', 'a', 'b', 'c', 'c'].map((name) => log.blobs.put(name, BYTES)));
  assert.equal(db.prepare('SELECT count(*) FROM blobs').pluck().get(), 1);
  assert.equal(db.prepare('SELECT count(*) FROM blob_refs').pluck().get(), 3);
});

test('[CONT5] what is deleted is overwritten', async () => {
  await using fixture = await sqliteFixture();
  const { log, db, file } = fixture;
  await log.append([created('a')]);
  await log.blobs.put('a', LONG);
  db.pragma('wal_checkpoint(TRUNCATE)');
  assert.ok(readFileSync(file).includes('canary canary'));
  await log.deleteSession('a');
  db.pragma('wal_checkpoint(TRUNCATE)');
  assert.ok(!readFileSync(file).includes('canary'));
});

test('[CONT5] a crash between a blob and its Event leaves a sound Session, and nothing once that is deleted', async () => {
  await using fixture = await sqliteFixture();
  const { log, db } = fixture;
  await log.append([created('a')]);
  await log.blobs.put('a', BYTES);
  assert.partialDeepStrictEqual(await log.verifySession('a'), { ok: true, events: 1 });
  await log.deleteSession('a');
  for (const table of ['blobs', 'blob_refs'])
    assert.equal(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 0, table);
});

test('[CONT5] on a full disk a blob is refused, and the next one is kept', async () => {
  await using fixture = await sqliteFixture();
  const { log } = fixture;
  await log.append([created('a')]);
  fixture.fillDisk();
  await assert.rejects(log.blobs.put('a', LONG), failsWith('log_write_failed'));
  assert.equal(await log.blobs.get(sha256(LONG)), undefined);
  fixture.freeDisk();
  assert.ok(await log.blobs.get(await log.blobs.put('a', LONG)));
});

for (const [damage, sql, reason] of [
  ['a byte is changed', "UPDATE blobs SET bytes = X'00'", /changed/],
  ['the bytes are gone', 'DELETE FROM blob_refs; DELETE FROM blobs', /missing/],
  ['it is not kept for the Session', 'DELETE FROM blob_refs', /missing/],
] as const) {
  test(`[CONT6] verify tells where ${damage}`, async () => {
    await using fixture = await sqliteFixture();
    const { log, db } = fixture;
    await log.append([created('a')]);
    await log.blobs.put('a', BYTES);
    await log.append([showing('a', BYTES)]);
    assert.partialDeepStrictEqual(await log.verifySession('a'), { ok: true, events: 2 });
    db.exec(sql);
    const found = await log.verifySession('a');
    assert.ok(!found.ok && found.firstBad.seq === 1);
    assert.match(found.firstBad.reason, reason);
    if (!sql.includes('blob_refs')) assert.equal(await log.blobs.get(sha256(BYTES)), undefined);
  });
}

test('[CONT6] verify compares the size that the Event names', async () => {
  await using fixture = await sqliteFixture();
  const { log } = fixture;
  await log.append([created('a')]);
  await log.blobs.put('a', BYTES);
  const draft = structuredClone(showing('a', BYTES));
  if (draft.type === 'user_message' && draft.data.content[0]?.type === 'image') draft.data.content[0].size += 1;
  await log.append([draft]);
  assert.equal((await log.verifySession('a')).ok, false);
});

test('[CONT6] a backup holds the blobs, and they outlive the Session it was made of', async () => {
  await using fixture = await sqliteFixture();
  const { log, dir } = fixture;
  await log.append([created('a')]);
  await log.blobs.put('a', LONG);
  await log.append([showing('a', LONG)]);
  await log.backupTo(join(dir, 'copy.db'));
  await log.deleteSession('a');
  const restored = openSqliteLog({ ...fixture, file: join(dir, 'copy.db'), clock: fakeClock() });
  assert.deepEqual(Buffer.from((await restored.blobs.get(sha256(LONG))) ?? []), LONG);
  assert.equal((await restored.verifySession('a')).ok, true);
  await restored.close();
});
