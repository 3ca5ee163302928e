/** The blobs in memory, as part of the Log in memory. It must behave as every other backend does. */
import { type Blobs, blobHash, blobsOf } from '../core/blobs.ts';
import type { Event } from '../core/event.ts';

export interface MemoryBlobs {
  port: Blobs;
  keep(event: Event): void;
  release(sessionId: string): void;
  /** What is wrong with the blobs of an Event, if anything. */
  check(event: Event): string | undefined;
}

/** @param write runs its argument as a write to this Session, which is there or the write is refused. */
export function memoryBlobs(write: <T>(sessionId: string, work: () => T) => Promise<T>): MemoryBlobs {
  const blobs = new Map<string, { bytes: Uint8Array; sessions: Set<string> }>();
  return {
    port: {
      put(sessionId, bytes) {
        const hash = blobHash(bytes);
        const kept = new Uint8Array(bytes);
        return write(sessionId, () => {
          const blob = blobs.get(hash) ?? { bytes: kept, sessions: new Set() };
          blobs.set(hash, blob);
          blob.sessions.add(sessionId);
          return hash;
        });
      },
      get: async (hash) => {
        const blob = blobs.get(hash);
        return blob && new Uint8Array(blob.bytes);
      },
    },
    keep(event) {
      for (const { hash } of blobsOf(event)) blobs.get(hash)?.sessions.add(event.sessionId);
    },
    release(sessionId) {
      for (const [hash, { sessions }] of blobs) {
        if (sessions.delete(sessionId) && sessions.size === 0) blobs.delete(hash);
      }
    },
    check(event) {
      const isKept = blobsOf(event).every(({ hash }) => blobs.get(hash)?.sessions.has(event.sessionId));
      return isKept ? undefined : 'an attachment is missing';
    },
  };
}
