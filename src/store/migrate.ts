/**
 * The schema of the database: numbered SQL files, forward only. It must never touch a database that a newer version of
 * Pixir has written, nor run a file that is not the one that ran before.
 */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { CoreError } from '../core/errors.ts';

export interface Migration {
  version: number;
  name: string;
  sql: string;
  sha256: string;
}

/** The migrations of this build: `NNNN_name.sql`, numbered from 1 without a gap. */
export function readMigrations(dir: string): Migration[] {
  const names = readdirSync(dir)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort();
  return names.map((name, index) => {
    const version = Number(name.slice(0, 4));
    if (version !== index + 1) throw new CoreError('internal', `migration ${index + 1} is missing: reinstall Pixir`);
    const sql = readFileSync(join(dir, name), 'utf8');
    return { version, name, sql, sha256: hash('sha256', sql, 'hex') };
  });
}

/**
 * Those that the database has not seen.
 *
 * @throws CoreError `database_newer`, or `database_corrupt` when its schema was made by a file of other content.
 */
export function pendingMigrations(db: Database, known: readonly Migration[]): Migration[] {
  const applied = appliedMigrations(db);
  for (const [index, { version, sha256 }] of applied.entries()) {
    const migration = known[index];
    if (migration === undefined) {
      const details = { database: applied.length, known: known.length };
      throw new CoreError('database_newer', 'a newer Pixir has written this database: update Pixir', details);
    }
    if (migration.version !== version || migration.sha256 !== sha256) {
      const message = `the database was made by another ${migration.name}: use the Pixir version that made it`;
      throw new CoreError('database_corrupt', message, { version });
    }
  }
  return known.slice(applied.length);
}

/** Brings the database to the newest schema, one transaction a file. */
export function migrate(db: Database, known: readonly Migration[], now: () => number): void {
  const pending = pendingMigrations(db, known);
  if (pending.length === 0) return;
  db.exec(`CREATE TABLE IF NOT EXISTS schema_migrations (
    version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at TEXT NOT NULL
  ) STRICT`);
  const insert = db.prepare('INSERT INTO schema_migrations (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)');
  const apply = db.transaction((migration: Migration) => {
    // The row first: should another process be doing the same, its key refuses us before anything was changed.
    insert.run(migration.version, migration.name, migration.sha256, new Date(now()).toISOString());
    db.exec(migration.sql);
  });
  for (const migration of pending) apply.immediate(migration);
}

function appliedMigrations(db: Database): Pick<Migration, 'version' | 'sha256'>[] {
  const table = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'");
  if (table.get() === undefined) return [];
  const rows = db.prepare<[], Pick<Migration, 'version' | 'sha256'>>(
    'SELECT version, sha256 FROM schema_migrations ORDER BY version',
  );
  return rows.all();
}
