import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { bundle } from '../../scripts/build.ts';
import { ROOT, run, temporaryDirectory } from './support.ts';

/** Uses what the real entry uses, in the way it does: heavy parts only where they are needed. */
const ENTRY = `
  import { packageRoot, packageVersion } from '${ROOT}/src/cli/package.ts';
  const command: string | undefined = process.argv[2];
  if (command === 'version') console.log(packageVersion(), packageRoot());
  if (command === 'sqlite') {
    const { default: Database } = await import('better-sqlite3');
    console.log(new Database(':memory:').prepare('SELECT 1').pluck().get());
  }
  if (command === 'serve') {
    const { createLogger } = await import('${ROOT}/src/cli/logger.ts');
    const { createApp } = await import('${ROOT}/src/server/app.ts');
    const { LIMITS: limits } = await import('${ROOT}/src/cli/limits.ts');
    const openPeer = () => ({ receive() {}, draining() {}, async idle() {}, closed() {} });
    const logger = createLogger('info');
    const app = await createApp({ openPeer, authenticate: () => 'ada', readiness: () => true, logger, limits });
    console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
    process.on('SIGTERM', () => void app.close());
  }`;

test('[BUILD1] the bundle works without the source, loads parts when needed and carries the licences', async (t) => {
  const root = temporaryDirectory(t);
  const entry = join(root, 'entry.ts');
  writeFileSync(entry, ENTRY);
  const installed = join(root, 'installed');
  mkdirSync(installed);
  writeFileSync(join(installed, 'package.json'), '{ "name": "pixir", "type": "module", "version": "1.2.3" }');
  symlinkSync(join(ROOT, 'node_modules'), join(installed, 'node_modules'));
  await bundle(entry, join(installed, 'dist'));

  const main = join(installed, 'dist', 'main.js');
  const version = await run(process.execPath, [main, 'version']);
  assert.equal(version.stdout, `1.2.3 ${installed}\n`);
  assert.equal((await run(process.execPath, [main, 'sqlite'])).stdout, '1\n');

  const server = spawn(process.execPath, [main, 'serve']);
  t.after(() => server.kill('SIGKILL'));
  const log = text(server.stderr);
  const [url] = await once(server.stdout.setEncoding('utf8'), 'data');
  assert.equal((await fetch(`${url.trim()}/readyz`)).status, 200);
  assert.equal((await fetch(`${url.trim()}/acp`)).status, 401);
  const exited = once(server, 'exit');
  server.kill('SIGTERM');
  assert.deepEqual(await exited, [0, null]);
  assert.match(await log, /"msg":"request refused"/);

  assert.ok(!readFileSync(main, 'utf8').includes('fastify'), 'the server is a part of its own');
  assert.ok(readdirSync(join(installed, 'dist', 'chunks')).length >= 2);
  const licences = readFileSync(join(installed, 'dist', 'LICENSES.txt'), 'utf8');
  for (const name of ['fastify', 'ws', 'fast-uri']) assert.match(licences, new RegExp(`^${name} \\d.* \\(`, 'm'));
  assert.ok(!existsSync(join(installed, 'dist', 'main.ts')));
});
