import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { environmentFor, REPOSITORY, runPixir, startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { connectWebSocket } from '../support/ws-wire.ts';
import { assertSbom } from './sbom.ts';

const exec = promisify(execFile);
const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

export function packaging(): void {
  test('[PACK1] the packed tarball installs into an empty directory and works there', async (t) => {
    await using dir = await tempDir();
    await exec('npm', ['pack', '--pack-destination', dir.path, ...quiet], { cwd: REPOSITORY });
    const [tarball = ''] = (await readdir(dir.path)).filter((name) => name.endsWith('.tgz'));
    const { stdout: listing } = await exec('tar', ['-tzf', join(dir.path, tarball)]);
    assert.doesNotMatch(listing, /(?<!\.d)\.ts\n|\/(test|src|bench)\//, 'nothing that only developers need');
    assert.match(listing, /dist\/types\/client\/connect\.d\.ts\n/);
    await exec('npm', ['init', '-y'], { cwd: dir.path });
    await exec('npm', ['install', `./${tarball}`, ...quiet], { cwd: dir.path });
    await t.test('[SBOM1] its bill of materials names every package in it and beside it, and nothing else', () =>
      assertSbom(join(dir.path, 'node_modules', 'pixir')),
    );

    const bin = join(dir.path, 'node_modules', '.bin', 'pixir');
    const env = environmentFor(dir.path);
    assert.match((await runPixir(['--version'], env, '', dir.path, bin)).stdout, /^\d+\.\d+\.\d+\n$/);
    const initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n';
    const answered = await runPixir(['acp'], env, initialize, dir.path, bin);
    assert.deepEqual([answered.code, JSON.parse(answered.stdout).result.agentInfo.name], [0, 'pixir']);

    await using server = await startServer(dir.path, {}, ['--workspace', dir.path], bin);
    const page = await (await fetch(server.url)).text();
    const [, script = ''] = page.match(/src="\.(\/assets\/index-[^"]+)"/) ?? assert.fail(page);
    assert.equal((await fetch(server.url + script)).status, 200, 'the UI is in the package');
    const { client } = await connectWebSocket(server);
    await client.initialize();
    const sessionId = await client.newSession(dir.path);
    assert.deepEqual(await client.prompt(sessionId, 'bash echo hi > out'), { stopReason: 'end_turn' });
    assert.ok((await readdir(dir.path)).includes('out'));
    client.assertSound();

    await writeFile(join(dir.path, 'client.mjs'), CLIENT);
    const args = ['client.mjs', server.url, server.token, sessionId];
    const { stdout } = await exec(process.execPath, args, { cwd: dir.path });
    assert.match(stdout, /^end_turn live user tool message user .*message\n$/);
  });
}

/** What a user of the reference client writes. */
const CLIENT = `
  import { connect } from 'pixir/client';
  const [url, token, sessionId] = process.argv.slice(2);
  const client = connect(url, { token });
  const session = await client.session(sessionId);
  const { stopReason } = await session.prompt('read out');
  console.log(stopReason, client.state.kind, ...session.transcript.items.map(({ type }) => type));
  client.close();
`;
