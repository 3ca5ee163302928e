/** bash: output, limits, and above all that nothing survives it. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createTools } from '../../src/tools/index.ts';
import { errorOf, openWorkspace, toolNamed, type Workspace } from './support.ts';

describe('bash', () => {
  test('[O04] [TL4] shows both outputs in order, and how a command failed', async () => {
    await using workspace = await openWorkspace({ 'a.txt': 'x' });
    const bash = (command: string) => workspace.run('bash', { command });
    assert.deepEqual(await bash('ls'), { ok: true, output: 'a.txt\n', exitCode: 0 });
    assert.deepEqual(await bash('exit 3'), { ok: false, output: '[exit code 3]', exitCode: 3 });
    assert.equal((await bash('printf half; exit 3')).output, 'half\n[exit code 3]');
    assert.deepEqual(await bash('kill -9 $$'), { ok: false, output: '[killed by signal SIGKILL]', exitCode: null });
    assert.deepEqual(await bash('for i in 1 2 3; do echo $i; echo e$i >&2; done'), {
      ok: true,
      output: '1\ne1\n2\ne2\n3\ne3\n',
      exitCode: 0,
    });
    assert.deepEqual(await bash('pwd; [[ a == a* ]] && echo bash; cat; echo done 2>/dev/null'), {
      ok: true,
      output: `${workspace.directory}\nbash\ndone\n`,
      exitCode: 0,
    });
    assert.match((await bash('no-such-program')).output, /not found\n\[exit code 127\]$/);
  });

  test('[TOOL18] a command that cannot be started is an error', async () => {
    await using workspace = await openWorkspace();
    assert.equal((await errorOf(workspace.run('bash', { command: 'echo a\0b' }))).code, 'invalid_args');
    assert.equal(
      (await errorOf(workspace.run('bash', { command: `: ${'x'.repeat(3_000_000)}` }))).code,
      'command_failed',
    );
    await workspace[Symbol.asyncDispose]();
    assert.equal((await errorOf(workspace.run('bash', { command: 'ls' }))).code, 'command_failed');
  });

  test('[TOOL19] gets a short list of variables and no secret', async () => {
    await using workspace = await openWorkspace();
    const own = { PATH: `.:${process.env.PATH}:bin`, HOME: '/home/x', LC_ALL: 'C', TZ: 'UTC' };
    const secret = {
      OPENAI_API_KEY: 'canary',
      PIXIR_TOKEN: 'canary',
      GITHUB_TOKEN: 'canary',
      BASH_ENV: 'x',
      NODE_OPTIONS: 'x',
    };
    const bash = createTools({ env: { ...own, ...secret } }).find(({ name }) => name === 'bash');
    const result = await bash?.run({ command: 'env' }, workspace.context());
    const lines = (result?.output ?? '').trim().split('\n');
    const seen = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    assert.deepEqual({ ...seen, ...own, PATH: process.env.PATH }, seen);
    assert.deepEqual([seen.TERM, seen.NO_COLOR], ['dumb', '1']);
    assert.ok(!result?.output.includes('canary'));
    const names = Object.keys(seen).filter((name) => /^(PIXIR|NODE|BASH|OPENAI|GITHUB)/.test(name));
    assert.deepEqual(names, ['PIXIR_CALL']);
  });

  test('[TOOL19] no program of the workspace stands in for one of the system, wherever PATH points', async () => {
    await using workspace = await openWorkspace();
    const bin = workspace.path('node_modules/.bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'ls'), '#!/bin/sh\necho hijacked\n', { mode: 0o755 });
    const elsewhere = mkdtempSync(join(tmpdir(), 'pixir-test-'));
    try {
      symlinkSync(bin, join(elsewhere, 'link'));
      const env = { PATH: `${bin}:${join(elsewhere, 'link')}:${process.env.PATH}` };
      const bash = createTools({ env }).find(({ name }) => name === 'bash');
      const result = await bash?.run({ command: 'ls; echo $PATH' }, workspace.context());
      assert.equal(result?.output, `node_modules\n${process.env.PATH}\n`);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  test('[TOOL20] endless output costs no memory and keeps its head and tail', async () => {
    await using workspace = await openWorkspace();
    const before = process.memoryUsage().rss;
    let peak = before;
    const measure = () => {
      peak = Math.max(peak, process.memoryUsage().rss);
    };
    const command = 'echo first; head -c 200000000 /dev/zero | tr "\\0" x; echo; echo last';
    const result = await toolNamed('bash').run({ command }, { ...workspace.context(), progress: measure });
    assert.match(result.output, /^first\nx+\n…\[199984012 bytes omitted\]…\nx+\nlast\n$/);
    assert.ok(peak - before < 100_000_000, `${peak - before} bytes`);
  });

  test('[TOOL21] shows its latest output while it runs, not too often', async () => {
    await using workspace = await openWorkspace();
    const startedAt = performance.now();
    await workspace.run('bash', { command: 'for i in $(seq 20000); do echo line $i; done' });
    const most = 1 + (performance.now() - startedAt) / 99;
    assert.ok(workspace.shown.length > 0 && workspace.shown.length <= most, `${workspace.shown.length} times`);
    for (const shown of workspace.shown) assert.ok(Buffer.byteLength(shown) <= 8_000);
  });

  test('[O04] a command is stopped at its time limit, and its output so far is told', async () => {
    await using workspace = await openWorkspace();
    const error = await errorOf(workspace.run('bash', { command: 'echo so far; sleep 300', timeout_ms: 400 }));
    assert.equal(error.code, 'timeout');
    assert.deepEqual(error.details, { timeout_ms: 400, partial_output: 'so far\n' });
    assert.ok((await workspace.run('bash', { command: 'sleep 0.05', timeout_ms: 0 })).ok, '0 means the default');
  });
});

/** Makes the command wait until the stray process is up: it reports its pid, and then a fifo lets the command go on. */
const report = 'echo $$ >> pids; echo > up';
const stray = (body: string) => `mkfifo up; ${body} & read -r _ < up;`;
const STRAYS: Record<string, string> = {
  'in the background, holding the output': stray(`sh -c '${report}; exec sleep 300'`),
  'that ignores the polite signal': stray(`sh -c 'trap "" TERM HUP INT; ${report}; while :; do sleep 300; done'`),
  'in its own session': stray(`setsid sh -c '${report}; exec sleep 300' >/dev/null 2>&1`),
  'in its own session, forked twice, that ignores the polite signal': stray(
    `(setsid sh -c 'trap "" TERM; ${report}; while :; do sleep 300; done' >/dev/null 2>&1 </dev/null &)`,
  ),
  'in a job of its own': stray(`set -m; sh -c '${report}; exec sleep 300'`),
  'without its environment': stray(`env -i sh -c '${report}; exec sleep 300'`),
  'that is stopped': stray(`sh -c '${report}; kill -STOP $$; exec sleep 300'`),
};

describe('no process survives its call', { concurrency: true }, () => {
  for (const [name, command] of Object.entries(STRAYS)) {
    test(`[TOOL22] a process ${name}: when the command ends`, async () => {
      await using workspace = await openWorkspace();
      const { ok, output } = await workspace.run('bash', { command: `${command} echo ended; exit 0` });
      assert.ok(ok);
      assert.match(output, /^ended\n\[ended \d process\(es\) that were still running\]$/);
      assertNoneLeft(workspace);
    });

    test(`[TOOL22] a process ${name}: when the call is cancelled`, async () => {
      await using workspace = await openWorkspace();
      await cancelWhenReady(workspace, `${command} echo ready; sleep 300`);
      assertNoneLeft(workspace);
    });
  }

  test('[TOOL22] a command that goes on starting processes until it is killed', async () => {
    await using workspace = await openWorkspace();
    const breed = 'echo $$ >> pids; while :; do (sleep 300 & echo $! >> pids); echo ready; sleep 0.01; done';
    await cancelWhenReady(workspace, `trap "" TERM; ${breed}`);
    assertNoneLeft(workspace);
  });
});

/** Runs the command until it prints `ready`, then cancels the call. */
async function cancelWhenReady(workspace: Workspace, command: string): Promise<void> {
  const controller = new AbortController();
  const progress = (shown: string) => shown.includes('ready') && controller.abort();
  const run = toolNamed('bash').run({ command }, { ...workspace.context(controller.signal), progress });
  assert.equal((await errorOf(run)).code, 'cancelled');
}

function assertNoneLeft(workspace: Workspace): void {
  const pids = readFileSync(workspace.path('pids'), 'utf8').trim().split('\n').map(Number);
  assert.ok(pids.length > 0);
  assert.deepEqual(pids.filter(isRunning), []);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // What ended and was not yet collected by its parent still has its number.
  return !/^State:\s+[ZX]/m.test(readStatus(pid));
}

function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
