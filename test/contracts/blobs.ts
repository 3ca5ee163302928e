/** The contract of the port Blobs, which every Log backend brings along. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Blobs } from '../../src/core/blobs.ts';
import type { EventDraft } from '../../src/core/event.ts';
import type { Log } from '../../src/core/log.ts';
import { created, failsWith } from '../store/support.ts';

export interface BlobsFixture extends AsyncDisposable {
  log: Log & { blobs: Blobs };
}

export const BYTES = Buffer.from('bytes \0 that are no text: \xff', 'latin1');

/** A prompt that names these bytes. */
export function showing(sessionId: string, bytes: Uint8Array): EventDraft {
  const image = { type: 'image' as const, hash: sha256(bytes), mimeType: 'image/png', size: bytes.length };
  return { sessionId, type: 'user_message', data: { turnId: 'turn_1', messageId: 'usr_1', content: [image] } };
}

export function sha256(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

export function blobsContract(name: string, factory: () => Promise<BlobsFixture>): void {
  describe(`Blobs contract: ${name}`, () => {
    test('[CONT4] bytes are found by their SHA-256 as soon as they were put, exactly, and never change', async () => {
      await using fixture = await factory();
      const { log } = fixture;
      await log.append([created('a')]);
      for (const bytes of [BYTES, new Uint8Array(), Buffer.alloc(3_000_000, 5)]) {
        const given = Uint8Array.from(bytes);
        const key = await log.blobs.put('a', given);
        assert.equal(key, sha256(bytes));
        (await log.blobs.get(key))?.fill(1);
        assert.deepEqual(Uint8Array.from((await log.blobs.get(key)) ?? []), Uint8Array.from(bytes));
      }
      assert.equal(await log.blobs.get(sha256(Buffer.from('others'))), undefined);
    });

    test('[CONT5] a blob is kept for a Session that is there, and for no other', async () => {
      await using fixture = await factory();
      const { log } = fixture;
      await assert.rejects(log.blobs.put('a', BYTES), failsWith('unknown_session'));
      assert.equal(await log.blobs.get(sha256(BYTES)), undefined);
      await log.append([created('a')]);
      await log.deleteSession('a');
      await assert.rejects(log.blobs.put('a', BYTES), failsWith('unknown_session'));
      assert.equal(await log.blobs.get(sha256(BYTES)), undefined);
    });

    test('[CONT5] a blob goes with the last Session that it was put for, also where no Event names it', async () => {
      await using fixture = await factory();
      const { log } = fixture;
      await log.append([created('a')]);
      await log.append([created('b')]);
      const key = await log.blobs.put('a', BYTES);
      assert.equal(await log.blobs.put('b', BYTES), key);
      await log.blobs.put('a', BYTES);
      await log.deleteSession('a');
      assert.ok(await log.blobs.get(key));
      await log.deleteSession('b');
      assert.equal(await log.blobs.get(key), undefined);
    });

    test('[CONT5] whoever records an Event with a blob keeps it: a fork outlives its source', async () => {
      await using fixture = await factory();
      const { log } = fixture;
      await log.append([created('a')]);
      const key = await log.blobs.put('a', BYTES);
      await log.append([showing('a', BYTES)]);
      await log.append([created('fork'), showing('fork', BYTES)]);
      await log.append([created('other'), showing('other', Buffer.from('never put'))]);
      await log.deleteSession('a');
      await log.deleteSession('other');
      assert.ok(await log.blobs.get(key));
      await log.deleteSession('fork');
      assert.equal(await log.blobs.get(key), undefined);
    });
  });
}
