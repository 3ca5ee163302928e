/** Ordinary work in the sandbox, and what happens where there is none. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createSandbox } from '../../src/tools/sandbox.ts';
import { ground, options, PATH } from './sandbox-support.ts';
import { errorOf } from './support.ts';

describe('ordinary work in the sandbox', { concurrency: true, ...options }, () => {
  test('[SBX9] git works: status, commit, branch, merge, stash', async () => {
    await using g = await ground();
    g.git('init', '--quiet', '--initial-branch=main');
    const script = `
      set -e
      commit() { git -c user.name=a -c user.email=a@b commit -qam "$1"; }
      echo 1 > a; git add a; commit one
      git checkout -qb side; echo 2 > a; commit two
      git checkout -q main; git merge -q side
      echo 3 > a; git -c user.name=a -c user.email=a@b stash -q; git stash pop -q; git checkout a
      git status --short; git log --format=%s`;
    assert.match(await g.says(script), /\ntwo\none$/);
  });

  test('[SBX9] node and npm work', async () => {
    await using g = await ground();
    assert.match(await g.says('node -p "1 + 1"; npm --version'), /^2\n\d+\.\d+/);
  });

  test('[SBX9] exit codes, order of output, and progress are as without', async () => {
    await using g = await ground();
    assert.match((await g.bash('exit 7')).output, /^\[exit code 7\]/);
    // The warnings of a shell that does not know its locale are not the command's.
    const abroad = g.bashIn({ env: { ...g.env, LC_ALL: 'xx_XX.UTF-8' } });
    assert.match((await abroad('echo hi')).output, /hi\n$/);
    assert.match((await g.bash('kill -9 $$')).output, /^\[exit code 137\]/);
    assert.equal(await g.says('for i in 1 2 3; do echo $i; echo e$i >&2; done'), '1\ne1\n2\ne2\n3\ne3');
    assert.equal(await g.says('cat; pwd; echo $TMPDIR'), `${g.workspace}\n/tmp`);
  });

  test('[SBX9] cancelled, it is asked to end before it is killed', async () => {
    await using g = await ground();
    const controller = new AbortController();
    const progress = (shown: string) => shown.includes('ready') && controller.abort();
    // What it has to do first takes a moment, in which nobody may kill it.
    const polite = "trap 'sleep 0.15; echo bye > bye; exit' TERM; echo ready; sleep 300 & wait";
    const error = await errorOf(g.bash(polite, { signal: controller.signal, progress }));
    assert.equal(error.code, 'cancelled');
    assert.equal(readFileSync(join(g.workspace, 'bye'), 'utf8'), 'bye\n');
  });

  test('[SBX9] programs of PATH that lie in the home work, and cannot be changed', async () => {
    await using g = await ground();
    const installation = join(g.home, '.tools/node/v1');
    for (const name of ['bin', 'lib']) mkdirSync(join(installation, name), { recursive: true });
    writeFileSync(join(installation, 'lib/tool.sh'), 'echo tool');
    writeFileSync(join(installation, 'bin/tool'), `#!/bin/sh\n. ${installation}/lib/tool.sh`, { mode: 0o755 });
    const env = { HOME: g.home, PATH: `${join(installation, 'bin')}:${g.home}:${PATH}:/tmp:/` };
    const bash = g.bashIn({ env });
    const { output } = await bash(`PATH=${env.PATH}; tool; ls -A ~; echo x > ${installation}/bin/tool`);
    assert.match(output, /^tool\n\.tools\n.*Read-only/);
  });
});

test('[SBX10] required and not there: an error that says what to install; auto runs as it is and says so', async () => {
  const given = { network: false, hidden: [], env: { PATH: '/nowhere' } };
  const error = await errorOf(createSandbox({ ...given, mode: 'required' }).status());
  assert.equal(error.code, 'config_invalid');
  assert.match(error.message, /PIXIR_SANDBOX is required, but .*install the package bubblewrap/);
  const auto = await createSandbox({ ...given, mode: 'auto' }).status();
  assert.equal(auto.kind, 'none');
  await using g = await ground({ mode: 'auto' });
  symlinkSync('/bin/sh', join(g.home, 'sh'));
  assert.equal((await g.bashIn({ env: { PATH: g.home } })('echo hi')).output, 'hi\n');
});

test('[SBX10] installed but forbidden by the system is as good as not there', async () => {
  await using g = await ground({ mode: 'auto' });
  const fake = fakeBubblewrap(g.dir, 'echo "bwrap: No permissions to create new namespace" >&2; exit 1');
  const status = await createSandbox({ mode: 'auto', network: false, hidden: [], env: { PATH: fake } }).status();
  assert.deepEqual(status, {
    kind: 'none',
    why: 'bubblewrap does not work here (bwrap: No permissions to create new namespace)',
  });
});

test('[SBX11] a command that cannot be confined is not run', async () => {
  await using g = await ground();
  const fake = fakeBubblewrap(g.dir, 'case "$*" in *--chdir*) echo "bwrap: Can\'t mount" >&2; exit 1;; esac');
  const broken = await errorOf(g.bashIn({ env: { PATH: fake } })('echo hi > ran'));
  assert.equal(broken.code, 'command_failed');
  assert.match(broken.message, /was not started \(bwrap: Can't mount\)/);
  const bash = g.bashIn({ env: { PATH: fake, HOME: g.home } });
  for (const workspace of ['/', '/usr']) {
    assert.match((await errorOf(bash('echo hi > ran', { workspace }))).message, /cannot show a root/, workspace);
  }
});

test(
  '[SBX1] where the workspace is the home or the data directory itself, its secrets are hidden by name',
  options,
  async () => {
    await using g = await ground();
    mkdirSync(join(g.data, 'tokens'));
    writeFileSync(join(g.data, 'tokens/x.json'), 'canary');
    for (const workspace of [g.home, g.data]) {
      const { ok, output } = await g.bash('echo mine > own && cat own; grep -rs canary . || echo none', { workspace });
      assert.deepEqual([ok, output.trim().split('\n')], [true, ['mine', 'none']], workspace);
    }
  },
);

function fakeBubblewrap(dir: string, script: string): string {
  const bin = join(dir, 'fake');
  mkdirSync(bin);
  writeFileSync(join(bin, 'bwrap'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, 'bwrap'), 0o755);
  return bin;
}
