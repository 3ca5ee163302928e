import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { openSqliteLog } from '../../src/store/sqlite-log.ts';
import { openReadOnly } from '../../src/store/sqlite-reader.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { tempDir } from '../support/temp-dir.ts';
import { migrationsDir, sqliteFixture, tamper } from './sqlite-support.ts';
import { created, failsWith, said } from './support.ts';

const clock = fakeClock();

/** A closed database with a Session in it. */
async function closedDatabase(directory: string): Promise<{ file: string; migrationsDir: string }> {
  const file = join(directory, 'pixir.db');
  const log = openSqliteLog({ file, migrationsDir, clock });
  await log.append([created('a'), said('a', 'x'.repeat(20_000))]);
  await log.close();
  return { file, migrationsDir };
}

test('[STORE4] a damaged database is refused with what to do, and left as it is', async () => {
  const damages: [string, (file: string) => void][] = [
    ['a header of other bytes', (file) => writeFileSync(file, Buffer.alloc(4096, 'x'), { flag: 'r+' })],
    ['a file of text', (file) => writeFileSync(file, 'this is no database, it only says so'.repeat(50))],
    ['half of the pages', (file) => truncateSync(file, statSync(file).size / 2)],
    ['no schema', (file) => tamper(file, "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'garbage'")],
  ];
  for (const [what, damage] of damages) {
    await using temp = await tempDir();
    const options = await closedDatabase(temp.path);
    damage(options.file);
    const bytes = readFileSync(options.file);
    const refused = failsWith('database_corrupt', /is damaged.*backup/);
    assert.throws(() => openSqliteLog({ ...options, clock }), refused, what);
    assert.throws(() => openReadOnly(options), refused, what);
    assert.ok(readFileSync(options.file).equals(bytes), what);
  }
});

test('[STORE6] a page that was cut short is found when it is read', async () => {
  await using temp = await tempDir();
  const options = await closedDatabase(temp.path);
  truncateSync(options.file, statSync(options.file).size - 100);
  const log = openSqliteLog({ ...options, clock });
  await assert.rejects(log.read('a', -1, 10), failsWith('log_corrupt'));
  await log.close();
});

test('[STORE4] a database of another program is refused, and gets no tables of ours', async () => {
  await using temp = await tempDir();
  const file = join(temp.path, 'pixir.db');
  tamper(file, 'CREATE TABLE theirs (a)');
  assert.throws(() => openSqliteLog({ file, migrationsDir, clock }), failsWith('database_corrupt'));
  const db = new Database(file, { readonly: true });
  assert.deepEqual(db.prepare('SELECT name FROM sqlite_master').pluck().all(), ['theirs']);
  db.close();
});

test('[STORE4] a file that cannot be opened is refused by name', async () => {
  await using temp = await tempDir();
  const file = join(temp.path, 'none', 'pixir.db');
  const refused = failsWith('config_invalid', /none/);
  assert.throws(() => openSqliteLog({ file, migrationsDir, clock }), refused);
  assert.throws(() => openReadOnly({ file, migrationsDir }), refused);
  assert.throws(() => openReadOnly({ file: join(temp.path, 'pixir.db'), migrationsDir }), failsWith('config_invalid'));
});

test('[STORE5] a database that a newer Pixir wrote is refused, for reading too', async () => {
  await using temp = await tempDir();
  const options = await closedDatabase(temp.path);
  tamper(options.file, "INSERT INTO schema_migrations VALUES (9999, 'tomorrow', 'x', 'x')");
  const refused = failsWith('database_newer', /update Pixir/);
  assert.throws(() => openSqliteLog({ ...options, clock }), refused);
  assert.throws(() => openReadOnly(options), refused);
});

test('[STORE8] a read-only connection cannot write, and does not create or update a database', async () => {
  await using fixture = await sqliteFixture();
  const { log, file } = fixture;
  await log.append([created('a')]);
  const db = new Database(file, { readonly: true });
  assert.throws(() => db.exec('DELETE FROM events'), { code: 'SQLITE_READONLY' });
  db.close();
  await using temp = await tempDir();
  const empty = join(temp.path, 'pixir.db');
  writeFileSync(empty, '');
  assert.throws(() => openReadOnly({ file: empty, migrationsDir }), failsWith('config_invalid', /older Pixir/));
  assert.equal(statSync(empty).size, 0);
});

test('[STORE14] a database that others could read is made private when it is opened', async () => {
  await using temp = await tempDir();
  const options = await closedDatabase(temp.path);
  chmodSync(options.file, 0o644);
  const log = openSqliteLog({ ...options, clock });
  assert.equal(statSync(options.file).mode & 0o777, 0o600);
  await log.close();
});

test('[STORE7] while another process holds the database a write is refused quickly, and works again after', async () => {
  await using fixture = await sqliteFixture();
  const { log, file } = fixture;
  await log.append([created('a')]);
  const intruder = new Database(file);
  intruder.exec('BEGIN IMMEDIATE');
  const before = performance.now();
  await assert.rejects(log.append([said('a', 'x')]), failsWith('log_write_failed', /another process/));
  assert.ok(performance.now() - before < 1000);
  intruder.close();
  const [entry] = await log.append([said('a', 'y')]);
  assert.equal(entry?.event.seq, 1);
});

test('[STORE17] a start that was cut while it made the database is taken up by the next', async () => {
  const migrations = readdirSync(migrationsDir).length;
  for (let done = 0; done < migrations; done++) {
    await using temp = await tempDir();
    const file = join(temp.path, 'pixir.db');
    let left = done;
    const cut = () => {
      if (left === 0) throw new Error('the power is gone');
      left--;
      return clock.now();
    };
    assert.throws(() => openSqliteLog({ file, migrationsDir, clock: { now: cut } }), /cannot open/);
    await openSqliteLog({ file, migrationsDir, clock }).close();
  }
});
