import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { blobHash } from '../../src/core/blobs.ts';
import { CoreError } from '../../src/core/errors.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { finish, say } from '../../src/providers/script.ts';
import { memoryLog } from '../../src/store/memory-log.ts';
import { openSqliteLog } from '../../src/store/sqlite-log.ts';
import { migrationsDir } from '../store/sqlite-support.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { imageBlock, png } from '../support/images.ts';
import type { WireClient } from '../support/wire-client.ts';
import { world } from '../support/world.ts';

const MIB = 2 ** 20;
const answers = (count: number) => Array.from({ length: count }, () => [...say('Seen.'), finish()]);
const text = (value: string) => ({ type: 'resource', resource: { uri: 'x:1', text: value } });
const settled = () => new Promise(setImmediate);
const send = (client: WireClient, sessionId: string, ...prompt: unknown[]) =>
  client.request('session/prompt', { sessionId, prompt });
const chunks = (client: WireClient) =>
  client.updates().flatMap(({ sessionUpdate, content }) => (sessionUpdate === 'user_message_chunk' ? [content] : []));

test('[CONT3] a client may know the workspace by the name of a link to it', async () => {
  await using w = await world({ script: answers(1) });
  await mkdir(join(w.dir, 'real', 'src'), { recursive: true });
  await symlink(join(w.dir, 'real'), join(w.dir, 'link'));
  const client = await w.client();
  const sessionId = await client.newSession(join(w.dir, 'link'));
  const link = (path: string) => ({ type: 'resource_link', uri: `file://${join(w.dir, path)}`, name: 'x' });
  await assert.rejects(send(client, sessionId, link('real/src/a.ts'), link('a.ts')));
  await send(client, sessionId, link('link/src/a.ts'), link('real/src/a.ts'));
});

test('[CONT1] [CONT5] another process on the same database shows the image again', async () => {
  await using w = await world();
  const options = { file: join(w.dir, 'pixir.db'), migrationsDir, clock: fakeClock() };
  const [first, second] = [openSqliteLog(options), () => openSqliteLog(options)];
  const before = await w.restart({ log: first, script: answers(1) });
  const client = await before.client();
  const sessionId = await client.newSession(w.dir);
  const image = imageBlock(png(100_000));
  await send(client, sessionId, image);
  await first.close();
  const log = second();
  const after = await w.restart({ log });
  const loader = await after.client();
  await loader.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  assert.deepEqual(chunks(loader), [image]);
  await log.deleteSession(sessionId);
  assert.equal(await log.blobs.get(blobHash(png(100_000))), undefined);
  await log.close();
});

test('[CONT6] lost bytes are told in their place, and everything else is shown', async () => {
  const log = memoryLog(fakeClock());
  await using w = await world({
    log: { ...log, blobs: { ...log.blobs, get: async () => undefined } },
    script: answers(1),
  });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  await send(client, sessionId, { type: 'text', text: 'a' }, imageBlock(png('x')), text('b'));
  const loader = await w.client();
  await loader.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  assert.deepEqual(chunks(loader), [
    { type: 'text', text: 'a' },
    { type: 'text', text: '[Lost: image of 9 bytes]' },
    { type: 'text', text: '[Lost: resource of 1 bytes]' },
  ]);
  assert.equal(loader.text(), 'Seen.');
  assert.equal(w.provider.requests[0]?.blobs.size, 0);
});

/** A Log that counts what is read of its blobs. */
function watched() {
  const log = memoryLog(fakeClock());
  const counter = new EventEmitter();
  let reads = 0;
  const get = (hash: string) => {
    reads += 1;
    counter.emit(String(reads));
    return log.blobs.get(hash);
  };
  const self = {
    log: { ...log, blobs: { ...log.blobs, get } },
    reads: () => reads,
    /** Waits for so many reads, and long enough for one more. */
    async until(count: number) {
      if (reads < count) await once(counter, String(count));
      for (let turns = 0; turns < 10; turns++) await settled();
      assert.equal(reads, count);
    },
  };
  return self;
}

test('[CONT9] blobs are read for one Event at a time, and no further than a client takes them', async () => {
  const { log, reads, until } = watched();
  await using w = await world({ log, script: answers(3) });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  const images = [1, 2, 3].map((n) => imageBlock(png(2 * MIB + n)));
  for (const image of images) await send(client, sessionId, image);
  const before = reads();
  const slow = w.connect();
  await slow.client.initialize();
  slow.pause();
  const load = slow.client.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  await until(before + 1);
  slow.takeDownTo(0);
  await until(before + 2);
  slow.resume();
  await load;
  assert.equal(reads(), before + 3);
  assert.deepEqual(chunks(slow.client), images);
});

test('[CONT9] nothing is read for the client that sent it, nor sent to one that has left meanwhile', async () => {
  const { log, reads } = watched();
  const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const get = async (hash: string) => {
    asked.resolve();
    await gate.promise;
    return log.blobs.get(hash);
  };
  await using w = await world({ log, script: answers(1) });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  await send(client, sessionId, imageBlock(png('x')));
  assert.equal(reads(), 1, 'for the model');
  await using slow = await w.restart({ log: { ...log, blobs: { ...log.blobs, get } } });
  const leaver = await slow.client();
  const load = leaver.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  await asked.promise;
  await leaver.request('_pixir/session/detach', { sessionId });
  gate.resolve();
  await load;
  await settled();
  assert.deepEqual(chunks(leaver), []);
});

test('[CONT9] a page of history holds no more than 16 MiB of them, and pages miss nothing', async () => {
  await using w = await world({ script: answers(3) });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  const images = [1, 2, 3].map((n) => imageBlock(png(7 * MIB + n)));
  for (const image of images) await send(client, sessionId, image);
  const pages: unknown[][] = [];
  for (let before: unknown; before !== null; ) {
    const page = await client.request('_pixir/session/history', {
      sessionId,
      limit: 500,
      ...(before ? { before } : {}),
    });
    const updates = page.updates as { update: { content: { type: string } } }[];
    pages.unshift(updates.map(({ update }) => update.content).filter((content) => content?.type === 'image'));
    before = page.before;
  }
  assert.deepEqual(pages, [images.slice(0, 1), images.slice(1)]);
});

test('[CONT5] a prompt whose bytes cannot be stored is refused, and the next one works', async () => {
  await using w = await world({ script: answers(1) });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  w.log.failAll(new CoreError('log_write_failed', 'the disk is full'));
  await assert.rejects(send(client, sessionId, imageBlock(png('x'))), /disk is full/);
  w.log.failAll(undefined);
  assert.deepEqual(await send(client, sessionId, imageBlock(png('x'))), { stopReason: 'end_turn' });
  assert.deepEqual(
    w.errors.splice(0).map((error) => error instanceof CoreError && error.code),
    ['log_write_failed'],
  );
});

test('[CONT5] a fork shows the images of its source, also when that is deleted', async () => {
  await using w = await world({ script: answers(1) });
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  const image = imageBlock(png('cat'));
  await send(client, sessionId, image);
  const fork = await client.request('session/fork', { sessionId, cwd: w.dir });
  await client.request('session/delete', { sessionId });
  const loader = await w.client();
  await loader.request('session/load', { sessionId: fork.sessionId, cwd: w.dir, mcpServers: [] });
  assert.deepEqual(chunks(loader), [image]);
  await client.request('session/delete', { sessionId: fork.sessionId });
  assert.equal(await w.blob(image.data), undefined);
});

test('[OWN1] [CONT2] nobody reaches bytes by their hash', async () => {
  await using w = await world({ script: answers(2) });
  const client = await w.client();
  const mine = await client.newSession(w.dir);
  await send(client, mine, imageBlock(png('secret')));
  const bob = await w.client({ ...LOCAL, name: 'bob', owner: 'bob' });
  const his = await bob.newSession(w.dir);
  const hash = blobHash(png('secret'));
  const named = { hash, size: png('secret').length, mimeType: 'image/png', uri: 'x:1', encoding: 'base64' };
  for (const block of [
    { type: 'image', ...named },
    { type: 'resource', ...named },
    { type: 'resource', resource: named },
  ])
    await assert.rejects(send(bob, his, block), /invalid params/);
  const other = imageBlock(png('other'));
  await send(bob, his, { ...other, hash });
  const loader = await w.client({ ...LOCAL, name: 'bob2', owner: 'bob' });
  await loader.request('session/load', { sessionId: his, cwd: w.dir, mcpServers: [] });
  assert.deepEqual(chunks(loader), [other]);
});
