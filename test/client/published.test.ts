import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { bundleClient } from '../../scripts/build.ts';
import type { connect as Connect } from '../../src/client/connect.ts';
import { finish, say } from '../../src/providers/script.ts';
import { startServer, TOKEN } from '../server/support.ts';
import { tempDir } from '../support/temp-dir.ts';
import { world } from '../support/world.ts';

test('[CLIENT13] published, the client is one file under 6 kB that imports nothing and works over a real WebSocket', async (t) => {
  await using dir = await tempDir();
  const file = join(dir.path, 'client.mjs');
  await bundleClient(file);
  const code = await readFile(file);
  assert.ok(gzipSync(code).length < 6_000, `${gzipSync(code).length} bytes gzipped`);
  assert.doesNotMatch(code.toString(), /\b(import|require)\b\s*[({'"*]/);
  const { connect } = (await import(pathToFileURL(file).href)) as { connect: typeof Connect };

  await using w = await world({ script: [[...say('Hello there.'), finish()]] });
  const { url } = await startServer(t, { openPeer: w.openPeer });
  const client = connect(url, { token: TOKEN });
  const session = await client.newSession({ cwd: w.dir });
  assert.deepEqual(await session.prompt('hi'), { stopReason: 'end_turn' });
  assert.deepEqual(session.transcript.items.at(-1), {
    type: 'message',
    id: session.transcript.items.at(-1)?.id,
    text: 'Hello there.',
  });
  client.close();

  const stranger = connect(url, { token: 'wrong' });
  await assert.rejects(stranger.newSession({ cwd: w.dir }), /credential/);
  assert.deepEqual(stranger.state, { kind: 'refused', reason: 'credential' });
  stranger.close();
});
