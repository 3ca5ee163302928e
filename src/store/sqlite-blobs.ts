/**
 * The blobs on SQLite: their statements, to be run inside the transactions of the Log, and the port over them. What is
 * read must never be believed before its hash was computed again.
 */
import type { Database } from 'better-sqlite3';
import { type Blobs, blobHash, blobsOf } from '../core/blobs.ts';
import { CoreError } from '../core/errors.ts';
import type { Event } from '../core/event.ts';
import { unknownSession } from './record.ts';
import { readFailed } from './sqlite-errors.ts';

export interface SqliteBlobs {
  /** What an Event names is kept for its Session as well, whoever put it there: a fork names what its source did. */
  keep(event: Event): void;
  /** Lets go of a Session's blobs; what no other Session names is removed. */
  release(sessionId: string): void;
}

export function sqliteBlobs(db: Database): SqliteBlobs {
  const keep = db.prepare<[string, string]>(
    'INSERT OR IGNORE INTO blob_refs (session_id, hash) SELECT ?, hash FROM blobs WHERE hash = ?',
  );
  const release = db.prepare<[string], string>('DELETE FROM blob_refs WHERE session_id = ? RETURNING hash').pluck();
  const remove = db.prepare<[string]>(
    'DELETE FROM blobs WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM blob_refs WHERE hash = blobs.hash)',
  );
  return {
    keep(event) {
      for (const { hash } of blobsOf(event)) keep.run(event.sessionId, hash);
    },
    release(sessionId) {
      for (const hash of release.all(sessionId)) remove.run(hash);
    },
  };
}

/** @param write runs its argument in a transaction. */
export function blobPort(db: Database, write: <T>(work: () => T) => Promise<T>): Blobs {
  const session = db.prepare<[string], 1>('SELECT 1 FROM sessions WHERE session_id = ?').pluck();
  const insert = db.prepare<[string, Uint8Array]>('INSERT OR IGNORE INTO blobs (hash, bytes) VALUES (?, ?)');
  const refer = db.prepare<[string, string]>('INSERT OR IGNORE INTO blob_refs (session_id, hash) VALUES (?, ?)');
  const select = db.prepare<[string], Uint8Array>('SELECT bytes FROM blobs WHERE hash = ?').pluck();
  return {
    put: (sessionId, bytes) => {
      const hash = blobHash(bytes);
      return write(() => {
        if (session.get(sessionId) === undefined) throw unknownSession(sessionId);
        insert.run(hash, bytes);
        refer.run(sessionId, hash);
        return hash;
      });
    },
    get: async (hash) => {
      try {
        const bytes = select.get(hash);
        return bytes && blobHash(bytes) === hash ? bytes : undefined;
      } catch (thrown) {
        const error = readFailed(thrown);
        // Damage: the bytes are lost, and whoever shows them says so.
        if (error instanceof CoreError && error.code === 'log_corrupt') return undefined;
        throw error;
      }
    },
  };
}

/** What is wrong with the blobs of an Event, if anything. */
export function blobChecker(db: Database): (event: Event) => string | undefined {
  const select = db
    .prepare<[string, string], Uint8Array>(
      'SELECT bytes FROM blobs JOIN blob_refs USING (hash) WHERE session_id = ? AND hash = ?',
    )
    .pluck();
  return (event) => {
    for (const { hash, size } of blobsOf(event)) {
      const bytes = select.get(event.sessionId, hash);
      if (bytes === undefined) return 'an attachment is missing';
      if (bytes.length !== size || blobHash(bytes) !== hash) return 'an attachment was changed';
    }
    return undefined;
  };
}
