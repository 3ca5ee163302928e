import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { transform } from 'esbuild';
import { ROOT, run, temporaryDirectory } from './support.ts';

const BIN = join(ROOT, 'bin', 'pixir');

/** The Node that people have who did not install ours: the first on the PATH outside node_modules. */
const MACHINE_PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((directory) => !directory.includes('node_modules'))
  .concat(join(ROOT, 'node_modules', '.bin'));
const MACHINE_NODE = MACHINE_PATH.map((directory) => join(directory, 'node')).find((path) => existsSync(path)) ?? '';

/** Shows what a command would see: its arguments, directory, version and input. */
const MAIN = `
  const parts = [];
  for await (const part of process.stdin) parts.push(part);
  const [major] = process.versions.node.split('.').map(Number);
  const seen = { args: process.argv.slice(2), cwd: process.cwd(), newEnough: major >= 24, parent: process.ppid, input: Buffer.concat(parts).toString() };
  console.log(JSON.stringify(seen));
  process.exitCode = 3;`;

/** A package directory around the real bin, with a stand-in for what it starts. */
function install(
  t: TestContext,
  kind: 'checkout' | 'checkout without node_modules' | 'published',
  main = MAIN,
): string {
  const root = temporaryDirectory(t);
  cpSync(join(ROOT, 'bin'), join(root, 'bin'), { recursive: true });
  writeFileSync(join(root, 'package.json'), '{ "name": "pixir", "type": "module" }');
  const entry = kind === 'published' ? join('dist', 'main.js') : join('src', 'main.ts');
  mkdirSync(join(root, entry, '..'));
  writeFileSync(join(root, entry), kind === 'published' ? main : `const typed: boolean = true; void typed; ${main}`);
  if (kind === 'checkout') symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return root;
}

/** An environment of its own cache, and in which Node takes itself for another version where one is given. */
function environment(root: string, pretended?: { version: string; execve: boolean }): NodeJS.ProcessEnv {
  const env = { ...process.env, PATH: MACHINE_PATH.join(delimiter), XDG_CACHE_HOME: join(root, 'cache') };
  if (!pretended) return env;
  const preload = join(root, 'pretend.cjs');
  writeFileSync(
    preload,
    `delete process.env.NODE_OPTIONS;
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${pretended.version}' } });
    ${pretended.execve ? '' : 'process.execve = undefined;'}`,
  );
  return { ...env, NODE_OPTIONS: `--require ${preload}` };
}

test('[BIN1] in a checkout it starts from any directory and through a symlink, under any Node', async (t) => {
  const root = install(t, 'checkout');
  const elsewhere = temporaryDirectory(t);
  const link = join(elsewhere, 'px');
  symlinkSync(join(root, 'bin', 'pixir'), link);
  const starts: [string, string[]][] = [
    [link, []],
    [MACHINE_NODE, [link]],
    [process.execPath, [link]],
  ];
  const args = ['serve', '--port', '0', 'two words', ''];
  const outcomes = await Promise.all(
    starts.map(([command, first]) =>
      run(command, [...first, ...args], { cwd: elsewhere, env: environment(root), input: 'said' }),
    ),
  );
  for (const { code, stdout, stderr } of outcomes) {
    assert.equal(stderr, '');
    const { parent: _parent, ...seen } = JSON.parse(stdout);
    assert.deepEqual(seen, { args, cwd: elsewhere, newEnough: true, input: 'said' });
    assert.equal(code, 3);
  }
});

test('[BIN2] an old Node in a checkout hands over to the pinned one, in place or through a child', async (t) => {
  const root = install(t, 'checkout');
  for (const execve of [true, false]) {
    const env = environment(root, { version: '22.15.0', execve });
    const { code, stdout, stderr } = await run(process.execPath, [join(root, 'bin', 'pixir'), 'a', 'b c'], {
      env,
      input: 'said',
    });
    assert.equal(stderr, '');
    const { parent, ...seen } = JSON.parse(stdout);
    assert.deepEqual(seen, { args: ['a', 'b c'], cwd: process.cwd(), newEnough: true, input: 'said' });
    assert.equal(parent === process.pid, execve);
    assert.equal(code, 3);
  }
});

test('[BIN3] an old Node without the pinned one says what to do in one line and loads nothing', async (t) => {
  const root = install(t, 'checkout without node_modules');
  for (const version of ['24.11.1', '20.20.2', '6.17.1']) {
    const env = environment(root, { version, execve: true });
    const { code, stdout, stderr } = await run(process.execPath, [join(root, 'bin', 'pixir')], { env });
    const advice = 'Run `npm ci`, which installs the right one into this checkout.';
    assert.equal(stderr, `Pixir needs Node 24.12 or newer; this is ${version}. ${advice}\n`);
    assert.deepEqual([code, stdout], [1, '']);
  }
});

test('[BIN3] a pinned Node that is too old or incomplete counts as none', async (t) => {
  const root = install(t, 'checkout without node_modules');
  const pinned = join(root, 'node_modules', 'node');
  mkdirSync(join(pinned, 'bin'), { recursive: true });
  const start = () =>
    run(process.execPath, [join(root, 'bin', 'pixir')], {
      env: environment(root, { version: '20.0.0', execve: false }),
    });
  writeFileSync(join(pinned, 'package.json'), '{ "version": "26.10.0" }');
  assert.match((await start()).stderr, /Run `npm ci`/);
  symlinkSync(process.execPath, join(pinned, 'bin', 'node'));
  writeFileSync(join(pinned, 'package.json'), '{ "version": "20.0.0" }');
  assert.match((await start()).stderr, /Run `npm ci`/);
});

test('[BIN4] signals and how it ended pass through, whichever Node started it', async (t) => {
  const root = install(
    t,
    'checkout',
    `const [how] = process.argv.slice(2);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {
      if (how === 'code') process.exit(signal.length);
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    });
    setInterval(() => {}, 1000);
    console.log('ready');`,
  );
  const end = async (node: string, signal: NodeJS.Signals, how: string) => {
    const child = spawn(node, [join(root, 'bin', 'pixir'), how], { env: environment(root) });
    t.after(() => child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    child.kill(signal);
    return exited;
  };
  const [interrupted, terminated, hungUp, killed, inPlace] = await Promise.all([
    end(MACHINE_NODE, 'SIGINT', 'code'),
    end(MACHINE_NODE, 'SIGTERM', 'code'),
    end(MACHINE_NODE, 'SIGHUP', 'code'),
    end(MACHINE_NODE, 'SIGTERM', 'kill'),
    end(process.execPath, 'SIGTERM', 'code'),
  ]);
  assert.deepEqual(
    [interrupted, terminated, hungUp, inPlace],
    [
      [6, null],
      [7, null],
      [6, null],
      [7, null],
    ],
  );
  assert.deepEqual(killed, [null, 'SIGTERM']);
});

test('[BIN5] the published package starts its compiled file and keeps compiled code in a directory of its own', async (t) => {
  const root = install(t, 'published');
  const env = environment(root);
  const { code, stdout } = await run(process.execPath, [join(root, 'bin', 'pixir'), 'x'], { env, input: 'said' });
  const seen = { args: ['x'], cwd: process.cwd(), newEnough: true, parent: process.pid, input: 'said' };
  assert.deepEqual(JSON.parse(stdout), seen);
  assert.equal(code, 3);
  assert.equal(readdirSync(join(root, 'cache', 'pixir')).length, 1);
});

test('[BIN5] the published package under an old Node is one clear line', async (t) => {
  const root = install(t, 'published');
  const env = environment(root, { version: '20.20.2', execve: false });
  const { code, stdout, stderr } = await run(process.execPath, [join(root, 'bin', 'pixir')], { env });
  assert.equal(stderr, 'Pixir needs Node 24.12 or newer; this is 20.20.2. See https://nodejs.org.\n');
  assert.deepEqual([code, stdout], [1, '']);
});

test('[BIN5] a command that fails while it loads ends with an error', async (t) => {
  const root = install(t, 'published', 'throw new Error("broken")');
  const { code, stderr } = await run(process.execPath, [join(root, 'bin', 'pixir')], { env: environment(root) });
  assert.equal(code, 1);
  assert.match(stderr, /broken/);
});

test('[BIN6] it is executable, asks for the Node of package.json, and has no syntax newer than ES2015', async () => {
  assert.equal(statSync(BIN).mode & 0o111, 0o111);
  const source = readFileSync(BIN, 'utf8').replace(/^#!.*/, '');
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  assert.equal(
    `>=${source
      .match(/NEEDED = \[(\d+), (\d+)\]/)
      ?.slice(1)
      .join('.')}`,
    engines.node,
  );
  const [old, modern] = await Promise.all([
    transform(source, { target: 'es2015' }),
    transform(source, { target: 'esnext' }),
  ]);
  assert.equal(old.code, modern.code);
});
