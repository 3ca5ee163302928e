import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CoreError } from '../../src/core/errors.ts';
import { claimDataDir, readHolder } from '../../src/store/data-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { failsWith } from './support.ts';

const HOLDER = join(import.meta.dirname, 'lock-holder.ts');

test('[STORE9] a data directory belongs to one process; the other is told which', async () => {
  await using temp = await tempDir();
  const dir = join(temp.path, 'data');
  await using holder = await hold(dir);
  assert.equal(holder.said, 'held');
  const isLocked = (thrown: unknown) => {
    assert.ok(thrown instanceof CoreError);
    assert.equal(thrown.code, 'data_dir_locked');
    assert.match(thrown.message, new RegExp(`process ${holder.pid} is using .*: stop it`));
    assert.equal(thrown.details.pid, holder.pid);
    assert.equal(thrown.details.url, 'http://127.0.0.1:7494');
    return true;
  };
  assert.throws(() => claimDataDir(dir), isLocked);
  assert.throws(() => claimDataDir(dir), isLocked);
});

test('[STORE9] the claim ends with the process, even with SIGKILL', async () => {
  await using temp = await tempDir();
  await using holder = await hold(temp.path);
  await holder.kill();
  assert.equal(readHolder(temp.path)?.pid, holder.pid);
  const lock = claimDataDir(temp.path);
  assert.equal(readHolder(temp.path)?.pid, process.pid);
  await using other = await hold(temp.path);
  assert.equal(other.said, 'data_dir_locked');
  lock.release();
});

test('[STORE9] a released directory can be claimed again, by this process too', async () => {
  await using temp = await tempDir();
  const first = claimDataDir(temp.path);
  assert.throws(() => claimDataDir(temp.path), failsWith('data_dir_locked'));
  first.release();
  assert.equal(existsSync(join(temp.path, 'server.json')), false);
  const second = claimDataDir(temp.path);
  first.release();
  assert.equal(readHolder(temp.path)?.pid, process.pid);
  second.release();
});

test('[STORE9] whoever finds it taken is told whether a server has it, also before it listens', async () => {
  await using temp = await tempDir();
  for (const serves of [true, false]) {
    const lock = claimDataDir(temp.path, { serves });
    assert.equal(readHolder(temp.path)?.serves, serves);
    const isSaid = (thrown: unknown) => thrown instanceof CoreError && thrown.details.serves === serves;
    assert.throws(() => claimDataDir(temp.path), isSaid);
    lock.release();
  }
  writeFileSync(join(temp.path, 'server.json'), '{"pid":1,"startedAt":"2026-01-01T00:00:00.000Z"}');
  assert.deepEqual(readHolder(temp.path), { pid: 1, startedAt: '2026-01-01T00:00:00.000Z', serves: false });
});

test('[STORE10] the data directory and all in it are private', async () => {
  await using temp = await tempDir();
  const dir = join(temp.path, 'a', 'b');
  const lock = claimDataDir(dir);
  lock.announce('http://127.0.0.1:1');
  assert.equal(statSync(dir).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(dir).sort(), ['lock.db', 'server.json']);
  for (const name of readdirSync(dir)) assert.equal(statSync(join(dir, name)).mode & 0o777, 0o600);
  const { pid, startedAt, url } = JSON.parse(readFileSync(join(dir, 'server.json'), 'utf8'));
  assert.deepEqual([pid, url], [process.pid, 'http://127.0.0.1:1']);
  assert.ok(Date.parse(startedAt) <= Date.now());
  lock.release();
});

test('[STORE10] a directory in which others may write is refused, and left alone', async () => {
  await using temp = await tempDir();
  for (const mode of [0o770, 0o707, 0o1777]) {
    const dir = join(temp.path, mode.toString(8));
    mkdirSync(dir);
    chmodSync(dir, mode);
    assert.throws(() => claimDataDir(dir), failsWith('config_invalid', /chmod go-w/));
    assert.deepEqual(readdirSync(dir), []);
  }
  const file = join(temp.path, 'file');
  writeFileSync(file, '');
  assert.throws(() => claimDataDir(file), failsWith('config_invalid'));
  assert.throws(() => claimDataDir(join(file, 'below')), failsWith('config_invalid'));
});

test('[STORE9] what stands in server.json is never believed blindly', async () => {
  await using temp = await tempDir();
  assert.equal(readHolder(temp.path), undefined);
  for (const text of ['', 'null', '{', '{"pid":"1"}', '[]', '{"pid":1}']) {
    writeFileSync(join(temp.path, 'server.json'), text);
    assert.equal(readHolder(temp.path), undefined);
  }
});

interface Holder extends AsyncDisposable {
  pid: number | undefined;
  /** `held`, or the code of its error. */
  said: string;
  kill(): Promise<void>;
}

/** Lets another process claim the directory. */
async function hold(dir: string): Promise<Holder> {
  const child = spawn(process.execPath, [HOLDER, dir], { stdio: ['pipe', 'pipe', 2] });
  assert.ok(child.stdout);
  const ended = once(child, 'exit');
  const [chunk] = await once(child.stdout, 'data');
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return { pid: child.pid, said: String(chunk).trim(), kill, [Symbol.asyncDispose]: kill };
}
