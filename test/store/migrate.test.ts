import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { migrate, pendingMigrations, readMigrations } from '../../src/store/migrate.ts';
import { tempDir } from '../support/temp-dir.ts';
import { migrationsDir } from './sqlite-support.ts';
import { failsWith } from './support.ts';

const now = () => Date.UTC(2026, 0, 1);

function schemaOf(db: Database.Database): unknown[] {
  return db.prepare('SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name').all();
}

function write(dir: string, files: Record<string, string>): string {
  mkdirSync(dir, { recursive: true });
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(dir, name), sql);
  return dir;
}

const FILES = {
  '0001_first.sql': 'CREATE TABLE one (a TEXT) STRICT;',
  '0002_add.sql': 'ALTER TABLE one ADD COLUMN b TEXT; CREATE INDEX one_b ON one (b);',
  '0003_more.sql': 'CREATE TABLE two (a TEXT) STRICT; INSERT INTO two SELECT a FROM one;',
};

test('[STORE11] a database that was upgraded step by step has the schema of a new one', async () => {
  await using temp = await tempDir();
  for (const known of [readMigrations(migrationsDir), readMigrations(write(temp.path, FILES))]) {
    const fresh = new Database(':memory:');
    migrate(fresh, known, now);
    const upgraded = new Database(':memory:');
    for (let count = 1; count <= known.length; count += 1) migrate(upgraded, known.slice(0, count), now);
    assert.deepEqual(schemaOf(upgraded), schemaOf(fresh));
    assert.deepEqual(pendingMigrations(fresh, known), []);
    const applied = fresh.prepare('SELECT version, name, applied_at FROM schema_migrations ORDER BY version').all();
    assert.deepEqual(
      applied,
      known.map(({ version, name }) => ({ version, name, applied_at: '2026-01-01T00:00:00.000Z' })),
    );
  }
});

test('[STORE11] migrating what is up to date changes nothing', () => {
  const db = new Database(':memory:');
  const known = readMigrations(migrationsDir);
  migrate(db, known, now);
  const before = db.serialize();
  migrate(db, known, now);
  assert.ok(db.serialize().equals(before));
});

test('[STORE11] a migration that fails leaves no trace, and those before it stand', async () => {
  await using temp = await tempDir();
  const db = new Database(':memory:');
  const broken = { ...FILES, '0003_more.sql': 'CREATE TABLE two (a TEXT) STRICT; INSERT INTO nowhere VALUES (1);' };
  assert.throws(() => migrate(db, readMigrations(write(join(temp.path, 'broken'), broken)), now), /nowhere/);
  const names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck().all();
  assert.deepEqual(names, ['one', 'schema_migrations']);
  const mended = readMigrations(write(join(temp.path, 'mended'), FILES));
  assert.deepEqual(
    pendingMigrations(db, mended).map(({ version }) => version),
    [3],
  );
  migrate(db, mended, now);
  assert.deepEqual(pendingMigrations(db, mended), []);
});

test('[STORE5] a database of a newer schema, or made by other files, is refused unchanged', async () => {
  await using temp = await tempDir();
  const db = new Database(':memory:');
  const known = readMigrations(write(temp.path, FILES));
  migrate(db, known, now);
  const before = db.serialize();
  assert.throws(() => migrate(db, known.slice(0, 2), now), failsWith('database_newer', /update Pixir/));
  const changed = { ...FILES, '0002_add.sql': `${FILES['0002_add.sql']} -- a comment` };
  const edited = readMigrations(write(temp.path, changed));
  assert.throws(() => migrate(db, edited, now), failsWith('database_corrupt', /0002_add.sql/));
  assert.ok(db.serialize().equals(before));
});

test('[STORE11] migrations are numbered without a gap, and other files beside them are not run', async () => {
  await using temp = await tempDir();
  cpSync(migrationsDir, temp.path, { recursive: true });
  write(temp.path, { 'README.md': 'hello', '0001_log.sql.orig': 'garbage' });
  const count = readdirSync(migrationsDir).length;
  assert.equal(readMigrations(temp.path).length, count);
  write(temp.path, { '9999_far.sql': 'SELECT 1' });
  assert.throws(() => readMigrations(temp.path), failsWith('internal', /missing/));
});
