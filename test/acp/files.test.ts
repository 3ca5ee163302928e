/** `_pixir/session/files`, with the real ripgrep on real files. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createFileLister } from '../../src/tools/file-lister.ts';
import { RpcError, type WireClient } from '../support/wire-client.ts';
import { type World, world } from '../support/world.ts';

type Files = { path: string; uri: string }[];

async function write(root: string, ...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), '');
  }
}

async function opened(w: World, cwd = w.dir) {
  const client = await w.client();
  const sessionId = await client.newSession(cwd);
  const find = async (query: string, limit = 50) =>
    (await client.request('_pixir/session/files', { sessionId, query, limit })).files as Files;
  const paths = async (query: string, limit?: number) => (await find(query, limit)).map(({ path }) => path);
  return { client, sessionId, find, paths };
}

/** What runs in this directory. */
function processesIn(directory: string): string[] {
  const cwdOf = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`);
    } catch {
      return '';
    }
  };
  return readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && name !== String(process.pid) && cwdOf(name) === directory,
  );
}

test('[FILES1] files are found by letters of their names, best first, with a URI that a prompt may link', async () => {
  await using w = await world();
  await write(w.dir, 'src/main.ts', 'src/cli/main.test.ts', 'docs/domain.md', 'we ird/#100% ä?.txt', '.github/ci.yml');
  const { client, sessionId, find, paths } = await opened(w);
  assert.deepEqual(await paths('main'), ['src/main.ts', 'src/cli/main.test.ts', 'docs/domain.md']);
  assert.deepEqual(await paths('main', 1), ['src/main.ts']);
  assert.deepEqual(await paths('nothing like it'), []);
  assert.equal((await paths('')).length, 5);
  const [odd] = await find('100');
  assert.deepEqual(
    [odd?.path, fileURLToPath(odd?.uri ?? '')],
    ['we ird/#100% ä?.txt', join(w.dir, 'we ird/#100% ä?.txt')],
  );
  const link = { type: 'resource_link', uri: odd?.uri, name: 'odd' };
  await client.request('session/prompt', { sessionId, prompt: [link] });
  for (const bad of [
    { query: 'x'.repeat(257), limit: 1 },
    { query: '', limit: 0 },
    { query: '', limit: 51 },
    { limit: 1 },
  ])
    await assert.rejects(client.request('_pixir/session/files', { sessionId, ...bad }), { code: -32602 });
});

test('[FILES2] not what git ignores, its own files, credentials, nor anything outside, whatever names there are', async () => {
  await using w = await world();
  const work = join(w.dir, 'work');
  await write(work, 'kept.txt', 'ignored/x.txt', '.git/config', '.ssh/id_rsa', 'sub/.aws/credentials', 'data/token');
  await write(w.dir, 'outside/secret.txt');
  await writeFile(join(work, '.gitignore'), 'ignored/\n');
  await symlink(join(w.dir, 'outside'), join(work, 'out'));
  await symlink(join(w.dir, 'outside/secret.txt'), join(work, 'out.txt'));
  await write(work, 'x\n../outside/secret.txt', 'y\n/etc/passwd');
  const { paths } = await opened(w, work);
  const found = await paths('');
  assert.deepEqual(found.sort(), [
    '.gitignore',
    'data/token',
    'kept.txt',
    'x\n../outside/secret.txt',
    'y\n/etc/passwd',
  ]);
  const hiding = createFileLister([join(work, 'data')]);
  assert.ok(!(await hiding(work, new AbortController().signal)).includes('data/token'));
});

test('[FILES2] a workspace that is gone, or is not allowed any more, has no files', async () => {
  await using w = await world();
  const work = join(w.dir, 'work');
  await mkdir(work);
  const { client, sessionId } = await opened(w, work);
  execFileSync('mv', [work, `${work}-gone`]);
  const refused = () => client.request('_pixir/session/files', { sessionId, query: '', limit: 1 });
  await assert.rejects(refused(), { code: -32602 });
  await symlink('/etc', work);
  await assert.rejects(refused(), RpcError);
});

test('[FILES3] what was listed is used for 5 s, also for another Session of the workspace', async () => {
  await using w = await world();
  await write(w.dir, 'one.txt');
  const [first, second] = [await opened(w), await opened(w)];
  assert.deepEqual(await first.paths('txt'), ['one.txt']);
  await write(w.dir, 'two.txt');
  assert.deepEqual(await second.paths('txt'), ['one.txt']);
  w.clock.advance(5_000);
  assert.deepEqual(await second.paths('txt'), ['one.txt', 'two.txt']);
});

const cancelled = (client: WireClient, requestId: number) => client.notify('$/cancel_request', { requestId });

test('[FILES3] a listing that hangs ends with its last request, and no process outlives it', async () => {
  await using w = await world();
  await write(w.dir, 'one.txt');
  // Whoever opens it waits for a writer.
  execFileSync('mkfifo', [join(w.dir, '.gitignore')]);
  const { client, sessionId } = await opened(w);
  const params = { sessionId, query: '', limit: 1 };
  const [one, two] = [901, 902].map((id) => client.request('_pixir/session/files', params, id));
  while (processesIn(w.dir).length === 0) await new Promise(setImmediate);
  cancelled(client, 901);
  await assert.rejects(one ?? assert.fail(), { code: -32800 });
  assert.equal(processesIn(w.dir).length, 1, 'shared, and still wanted');
  cancelled(client, 902);
  await assert.rejects(two ?? assert.fail(), { code: -32800 });
  assert.deepEqual(processesIn(w.dir), []);
  // Nobody gives up: after 2 s what was found has to do.
  assert.ok(Array.isArray((await client.request('_pixir/session/files', params)).files));
  assert.deepEqual(processesIn(w.dir), []);
});
