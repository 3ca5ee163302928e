import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { localServer } from '../../src/cli/bridge-address.ts';
import { claimDataDir } from '../../src/store/data-dir.ts';
import { tempDir } from '../support/temp-dir.ts';

test('[BRIDGE11] the token goes where a living server listens now, and nowhere else', async () => {
  await using dir = await tempDir();
  const lock = claimDataDir(dir.path, { serves: true });
  const server = localServer({ dataDir: dir.path });
  assert.throws(server, /no server listens/, 'it is only starting');
  lock.announce('http://127.0.0.1:1');
  const { url, headers } = server();
  assert.equal(url, 'ws://127.0.0.1:1/acp');
  writeFileSync(join(dir.path, 'token'), 'another-token\n');
  lock.announce('http://[::1]:2');
  assert.equal(server().url, 'ws://[::1]:2/acp');
  assert.equal(server().headers.authorization, 'Bearer another-token');
  assert.notEqual(headers.authorization, server().headers.authorization);

  const { pid } = spawnSync(process.execPath, ['--version']);
  const left = { pid, startedAt: new Date().toISOString(), serves: true, url: 'http://127.0.0.1:3' };
  writeFileSync(join(dir.path, 'server.json'), JSON.stringify(left));
  assert.throws(server, /no server listens/, 'it was killed');
  lock.release();
  assert.throws(server, /no server listens/, 'it has ended');
});
