/**
 * The newest acpx, a headless ACP client of other people, drives the agent over stdio and over a bridge to a server. It is
 * fetched when the test runs; where that cannot be done, the tests say so and are skipped.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { environmentFor, REPOSITORY, startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';

const SETTINGS = { PIXIR_PROVIDER: 'scripted', PIXIR_PERMISSION_MODE: 'ask', PIXIR_SANDBOX: 'off' };
const cache = await tempDir();
const installed = spawnSync('npm', ['install', '--no-audit', '--no-fund', 'acpx@latest'], { cwd: cache.path });
after(() => cache[Symbol.asyncDispose]());
const skip = installed.status === 0 ? false : 'no acpx to be had';

interface Ran {
  code: number;
  stdout: string;
}

/** Runs acpx in a home, a data directory and a project of its own. */
async function stage(t: TestContext) {
  const dir = await tempDir();
  t.after(() => dir[Symbol.asyncDispose]());
  const [home, project, data] = ['home', 'project', 'data'].map((name) => join(dir.path, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [home, project]) await mkdir(path);
  const env = { ...environmentFor(data, SETTINGS), HOME: home };
  const agent = `${process.execPath} ${join(REPOSITORY, 'bin/pixir')} acp`;
  const acpx = (...args: string[]) => {
    const cli = join(cache.path, 'node_modules/acpx/dist/cli.js');
    const command = [cli, '--agent', agent, '--cwd', project, '--ttl', '1', ...args];
    let said = '';
    const ended = new Promise<Ran>((resolve) => {
      const child = execFile(process.execPath, command, { env, timeout: 60_000 }, (error, stdout) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout });
      });
      child.stdout?.on('data', (text: string) => {
        said += text;
      });
    });
    return Object.assign(ended, { soFar: () => said });
  };
  return { acpx, data, project };
}

/** new, prompt, approve, deny, mode, cancel, resume: the way of a person with a shell. */
async function drive(
  { acpx, project }: Awaited<ReturnType<typeof stage>>,
  restart: () => Promise<void>,
): Promise<void> {
  assert.equal((await acpx('--approve-all', 'exec', 'write a.txt hello')).code, 0);
  assert.equal((await acpx('--deny-all', 'exec', 'write b.txt hello')).code, 5);
  assert.deepEqual(await readdir(project), ['a.txt']);
  assert.equal((await acpx('sessions', 'new')).code, 0);
  assert.match((await acpx('--format', 'quiet', 'echo turn one')).stdout, /turn one/);
  assert.equal((await acpx('set-mode', 'plan')).code, 0);
  await acpx('--approve-all', 'write c.txt no');
  assert.deepEqual(await readdir(project), ['a.txt']);
  assert.equal((await acpx('set-mode', 'build')).code, 0);
  const hanging = acpx('--format', 'json', 'hang');
  // It prints what it says to the agent. Asked earlier, it has nothing to cancel.
  while (!/"method":"session\/prompt"/.test(hanging.soFar())) await delay(50);
  await acpx('cancel');
  assert.match((await hanging).stdout, /"stopReason":"cancelled"/);
  // Its own process in the background ends a second after its last prompt.
  await delay(3_000);
  await restart();
  assert.match((await acpx('--format', 'quiet', 'echo after')).stdout, /after/);
}

test('[SDK4] acpx drives the agent over stdio', { skip }, async (t) => {
  await drive(await stage(t), async () => undefined);
});

test('[SDK4] acpx drives the agent over a bridge, and goes on when the server was killed', { skip }, async (t) => {
  const staged = await stage(t);
  const start = () => startServer(staged.data, { ...SETTINGS, PIXIR_WORKSPACES: staged.project });
  let server = await start();
  t.after(() => server[Symbol.asyncDispose]());
  await drive(staged, async () => {
    server.child.kill('SIGKILL');
    await server.exit();
    server = await start();
  });
});
