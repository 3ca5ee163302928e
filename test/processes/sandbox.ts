/** The sandbox as a user has it: a real server, its settings, and its end. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { environmentFor, runPixir, startServer, type Variables } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { connectWebSocket } from '../support/ws-wire.ts';
import { options as confined, processesWith } from '../tools/sandbox-support.ts';

const WITHOUT = { PIXIR_SANDBOX: 'auto', PATH: '/nowhere' };

/** A data directory and a workspace that is neither it nor the home. */
async function ground(extra: Variables) {
  const dir = await tempDir();
  const workspace = join(dir.path, 'work');
  mkdirSync(workspace);
  const env = environmentFor(join(dir.path, 'data'), { PIXIR_SANDBOX: 'required', ...extra });
  return { data: join(dir.path, 'data'), workspace, env, [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() };
}

export function sandboxing(): void {
  test('[SBX7] a server that is killed takes its commands with it', confined, async () => {
    await using g = await ground({});
    const sleep = `${500_000 + process.pid}`;
    await using server = await startServer(g.data, g.env, ['--workspace', g.workspace]);
    const { client } = await connectWebSocket(server);
    await client.initialize();
    const sessionId = await client.newSession(g.workspace);
    client.prompt(sessionId, `bash setsid sleep ${sleep} & sleep ${sleep}`).catch(() => undefined);
    await until(() => processesWith(`sleep\0${sleep}\0`).length === 2);
    server.child.kill('SIGKILL');
    await until(() => processesWith(sleep).length === 0);
  });

  test('[SBX5] a command gets no key and no token', confined, async () => {
    await using g = await ground({ OPENAI_API_KEY: 'canary', PIXIR_TOKEN: 'canary', PIXIR_PROVIDER: 'scripted' });
    const look = `cat /proc/*/environ | tr '\\0' '\\n'; ls -A ${g.data} ~`;
    const { stdout } = await runPixir(['run', '--cwd', g.workspace, `bash ${look}`], g.env);
    assert.doesNotMatch(stdout, /canary|OPENAI|PIXIR_(?!CALL)/);
    assert.match(stdout, new RegExp(`^${g.data}:\\n+${g.data}:\\n`, 'm'), 'both are empty');
  });

  test('[SBX10] initialize says what confines commands', confined, async () => {
    await using g = await ground({});
    assert.equal(await announced(g.env), 'bubblewrap');
  });

  test('[SBX10] without a sandbox initialize, doctor and the log of the server say so', async () => {
    await using g = await ground(WITHOUT);
    assert.equal(await announced(g.env), 'none');
    const doctor = await runPixir(['doctor'], { ...g.env, PIXIR_PORT: '0' });
    assert.match(doctor.stdout, /^ok {4}sandbox: commands are not confined: .*install the package bubblewrap$/m);
    await using server = await startServer(g.data, g.env);
    assert.match(server.stderr(), /commands are not confined/);
  });

  test('[SBX10] where it is required and not there, nothing starts, and doctor says what to install', async () => {
    await using g = await ground({ ...WITHOUT, PIXIR_SANDBOX: 'required' });
    for (const args of [['serve', '--port', '0'], ['acp']]) {
      const { code, stdout, stderr } = await runPixir(args, g.env);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /^pixir: PIXIR_SANDBOX is required, but .*install the package bubblewrap\n$/);
    }
    const doctor = await runPixir(['doctor'], { ...g.env, PIXIR_PORT: '0' });
    assert.equal(doctor.code, 1);
    assert.match(doctor.stdout, /^FAIL {2}sandbox: .*install the package bubblewrap$/m);
  });
}

/** What `initialize` says of the sandbox. */
async function announced(env: Variables): Promise<unknown> {
  const request = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } };
  const { stdout } = await runPixir(['acp'], env, `${JSON.stringify(request)}\n`);
  return JSON.parse(stdout).result.agentCapabilities._meta.pixir.sandbox;
}

async function until(reached: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 10_000; !reached(); await pause(10)) {
    assert.ok(performance.now() < deadline, 'it takes too long');
  }
}
