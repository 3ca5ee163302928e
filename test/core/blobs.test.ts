import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blobHash, withBlobs } from '../../src/core/blobs.ts';
import type { HistoryItem } from '../../src/core/provider.ts';
import { finish, say } from '../../src/providers/script.ts';
import { memoryLog } from '../../src/store/memory-log.ts';
import { created } from '../store/support.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { imageBlock, png } from '../support/images.ts';
import { world } from '../support/world.ts';

const MIB = 2 ** 20;

function showing(bytes: Uint8Array): Extract<HistoryItem, { type: 'user' }> {
  const block = { type: 'image' as const, hash: blobHash(bytes), mimeType: 'image/png', size: bytes.length };
  return { type: 'user', content: [{ type: 'text', text: 'x' }, block] };
}

test('[CONT7] a model is shown the newest blobs up to 32 MiB, each read once and counted each time', async () => {
  const { append, blobs } = memoryLog(fakeClock());
  await append([created('a')]);
  const images = [8, 8, 10, 10, 4].map((size, index) => Buffer.alloc(size * MIB, index));
  for (const image of images) await blobs.put('a', image);
  let reads = 0;
  const counting = { ...blobs, get: (hash: string) => blobs.get(hash).finally(() => reads++) };
  const shown = async (...order: number[]) => {
    const history = order.flatMap((index) => showing(images[index] ?? new Uint8Array()));
    const { history: given, blobs: loaded } = await withBlobs(counting, history);
    assert.deepEqual(
      given.map((item) => item.type === 'user' && item.content[0]),
      history.map(({ content }) => content[0]),
    );
    return given.flatMap((item, place) => {
      const block = item.type === 'user' ? item.content[1] : undefined;
      return block?.type === 'image' && loaded.has(block.hash) ? [order[place]] : [];
    });
  };
  assert.deepEqual(await shown(), []);
  assert.deepEqual(await shown(0, 1, 2, 3, 4), [1, 2, 3, 4], 'exactly 32 MiB');
  assert.deepEqual(await shown(4, 1, 2, 3, 0), [2, 3, 0], 'nothing older once one was left out');
  assert.equal(reads, 7);
  assert.deepEqual(await shown(0, 0, 0, 0, 2), [0, 0, 2], 'what is shown twice is sent twice');
  assert.equal(reads, 9);
});

test('[CONT7] every call of a Turn is given the bytes, and History keeps none', async () => {
  await using w = await world({
    script: [
      [{ type: 'tool_call', callId: 'c1', name: 'note', args: { text: 'a' } }, finish()],
      [...say('Seen.'), finish()],
    ],
  });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  await client.request('session/prompt', { sessionId, prompt: [imageBlock(png('cat'))] });
  const { requests } = w.provider;
  assert.equal(requests.length, 2);
  for (const { blobs, history } of requests) {
    assert.deepEqual(Buffer.from(blobs.get(blobHash(png('cat'))) ?? []), png('cat'));
    assert.deepEqual(history[0], { type: 'user', content: showing(png('cat')).content.slice(1) });
  }
});
