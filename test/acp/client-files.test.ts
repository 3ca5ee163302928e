/** Files through the client: what a person has not saved is read, what is written the client writes, and ours is the fallback. */
import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { REFUSED, SILENCE, type Sitting, sitting } from './services-support.ts';

const READ = 'fs/read_text_file';
const WRITE = 'fs/write_text_file';
const FILES = { fs: { readTextFile: true, writeTextFile: true } };
const EDIT = { path: 'a.txt', old_string: 'unsaved', new_string: 'edited' };

const put = ({ w }: Sitting, name: string, content: string) => writeFile(join(w.dir, name), content);
const text = ({ w }: Sitting, name: string) => readFile(join(w.dir, name), 'utf8');

/** Buffers that the editor has open, over the files on disk. */
function buffers({ answers }: Sitting, open: Map<string, string>): void {
  answers[READ] = ({ path }) => {
    const content = open.get(String(path));
    return content === undefined ? REFUSED : { content };
  };
  answers[WRITE] = ({ path, content }) => {
    open.set(String(path), String(content));
    return {};
  };
}

test('[CLS2] what a person has not saved is read, by its real path, and paged by us', async () => {
  const calls = [
    ['read', { path: 'a.txt' }],
    ['read', { path: 'link.txt', offset: 2, limit: 1 }],
    ['read', { path: 'new.txt' }],
  ] as const;
  await using s = await sitting(FILES, calls);
  const path = join(s.w.dir, 'a.txt');
  await put(s, 'a.txt', 'saved\n');
  await symlink('a.txt', join(s.w.dir, 'link.txt'));
  const open = new Map([[path, 'one\ntwo\nthree\n']]).set(join(s.w.dir, 'new.txt'), 'nowhere else');
  buffers(s, open);
  await s.go();
  assert.equal((await s.result(0)).output, 'one\ntwo\nthree\n');
  assert.match((await s.result(1)).output, /^two\n\[truncated: showing lines 2-2 of 3/);
  assert.equal((await s.result(2)).output, 'nowhere else');
  assert.deepEqual(s.params(READ)[1], { sessionId: s.sessionId, path });
});

test('[CLS2] what the client refuses, garbles or sends by the ton is read from the disk', async () => {
  const huge = 'x'.repeat(10 * 1024 * 1024 + 1);
  const answers = [
    REFUSED,
    {},
    { content: 7 },
    null,
    [],
    { content: 'a\0b' },
    { content: '\uFFFD' },
    { content: huge },
  ];
  await using s = await sitting(
    FILES,
    answers.map(() => ['read', { path: 'a.txt' }] as const),
  );
  await put(s, 'a.txt', 'saved\n');
  const left = [...answers];
  s.answers[READ] = () => left.shift();
  await s.go();
  assert.equal(s.params(READ).length, answers.length);
  for (const index of answers.keys()) assert.equal((await s.result(index)).output, 'saved\n', `answer ${index}`);
});

test('[CLS2] what the Workspace does not give out, and what is no file, the client is never asked for', async () => {
  const refused = ['../x', '/etc/passwd', '.ssh/id', 'data/token', 'data', '.git/config', 'out.txt', 'sub'];
  const calls = refused.flatMap((path) => [
    ...(path === '.git/config' ? [] : [['read', { path }] as const]),
    ['write', { path, content: 'x' }] as const,
    ['edit', { path, old_string: 'a', new_string: 'b' }] as const,
    ['apply_patch', { patch: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch` }] as const,
  ]);
  await using s = await sitting(FILES, calls);
  await mkdir(join(s.w.dir, 'data'));
  await mkdir(join(s.w.dir, 'sub'));
  await put(s, 'data/pixir.db', '');
  await symlink('/etc/passwd', join(s.w.dir, 'out.txt'));
  buffers(s, new Map());
  await s.go();
  for (const index of calls.keys()) assert.equal((await s.result(index)).ok, false, JSON.stringify(calls[index]));
  assert.deepEqual(s.asked, []);
});

test('[CLS3] write, edit and apply_patch change what a person has not saved, and the diff shows that', async () => {
  const patch = '*** Begin Patch\n*** Update File: a.txt\n-edited\n+patched\n*** Add File: b.txt\n+new\n*** End Patch';
  const calls = [
    ['edit', EDIT],
    ['apply_patch', { patch }],
    ['write', { path: 'a.txt', content: 'whole\n' }],
  ] as const;
  await using s = await sitting(FILES, calls);
  const path = join(s.w.dir, 'a.txt');
  await put(s, 'a.txt', 'saved\n');
  const open = new Map([[path, 'unsaved\n']]);
  buffers(s, open);
  await s.go();
  const [edited, patched, written] = [await s.result(0), await s.result(1), await s.result(2)];
  assert.deepEqual(edited.diffs, [{ path, oldText: 'unsaved\n', newText: 'edited\n' }]);
  assert.deepEqual(patched.diffs, [
    { path, oldText: 'edited\n', newText: 'patched\n' },
    { path: join(s.w.dir, 'b.txt'), oldText: null, newText: 'new\n' },
  ]);
  assert.deepEqual(written.diffs, [{ path, oldText: 'patched\n', newText: 'whole\n' }]);
  assert.deepEqual([...open.values()], ['whole\n', 'new\n']);
  // It is the client's to save; nothing of ours is left beside it.
  assert.equal(await text(s, 'a.txt'), 'saved\n');
  assert.deepEqual(await readdir(s.w.dir), ['a.txt']);
});

test('[CLS3] what the client does not write we write, and only what it offers is asked of it', async () => {
  for (const fs of [{ readTextFile: true, writeTextFile: true }, { readTextFile: true }, { writeTextFile: true }]) {
    await using s = await sitting({ fs }, [['edit', { ...EDIT, old_string: 'saved' }]]);
    await put(s, 'a.txt', 'saved\n');
    await s.go();
    assert.equal(await text(s, 'a.txt'), 'edited\n');
    const expected = [...(fs.readTextFile ? [READ] : []), ...(fs.writeTextFile ? [WRITE] : [])];
    assert.deepEqual(s.asked, expected);
  }
});

test('[CLS3] a file that is moved keeps its mode, which no client can be told', async () => {
  const patch = '*** Begin Patch\n*** Update File: a.sh\n*** Move to: b.sh\n-saved\n+moved\n*** End Patch';
  await using s = await sitting(FILES, [['apply_patch', { patch }]]);
  await put(s, 'a.sh', 'saved\n');
  await chmod(join(s.w.dir, 'a.sh'), 0o755);
  buffers(s, new Map());
  await s.go();
  assert.equal(await text(s, 'b.sh'), 'moved\n');
  assert.equal((await stat(join(s.w.dir, 'b.sh'))).mode & 0o777, 0o755);
  assert.deepEqual(s.params(WRITE), []);
});

test('[CLS4] a cancel withdraws what the client has not answered, and nothing is done in its place', async () => {
  for (const method of [READ, WRITE]) {
    await using s = await sitting(FILES, [['edit', EDIT]]);
    await put(s, 'a.txt', 'saved\n');
    buffers(s, new Map([[join(s.w.dir, 'a.txt'), 'unsaved\n']]));
    s.answers[method] = () => SILENCE;
    const prompt = s.go();
    const request = await s.request(method);
    s.client.notify('session/cancel', { sessionId: s.sessionId });
    assert.deepEqual(await prompt, { stopReason: 'cancelled' });
    const withdrawal = s.client.frames.find((frame) => frame.method === '$/cancel_request');
    assert.deepEqual(withdrawal?.params, { requestId: request.id });
    s.answer(request, { content: 'late' });
    await s.client.request('logout', {});
    assert.equal(await text(s, 'a.txt'), 'saved\n');
    assert.deepEqual(await readdir(s.w.dir), ['a.txt']);
  }
});

test('[CLS4] a patch of which a part is visible is carried through', async () => {
  const patch = '*** Begin Patch\n*** Add File: a.txt\n+a\n*** Add File: b.txt\n+b\n*** End Patch';
  await using s = await sitting(FILES, [['apply_patch', { patch }]]);
  s.answers[WRITE] = ({ path }) => (String(path).endsWith('b.txt') ? SILENCE : {});
  const prompt = s.go();
  await s.client.frame(({ method, params }) => method === WRITE && String(params?.path).endsWith('b.txt'));
  s.client.notify('session/cancel', { sessionId: s.sessionId });
  assert.deepEqual(await prompt, { stopReason: 'cancelled' });
  assert.equal(await text(s, 'b.txt'), 'b\n');
});

test('[CLS4] a client that takes too long, or goes away, is not waited for: the disk is there', async () => {
  for (const method of [READ, WRITE]) {
    for (const leaves of [true, false]) {
      await using s = await sitting(FILES, [['edit', { ...EDIT, old_string: 'saved' }]]);
      await put(s, 'a.txt', 'saved\n');
      s.answers[method] = () => SILENCE;
      const prompt = s.go().catch(() => undefined);
      await s.request(method);
      if (leaves) s.client.close();
      else s.w.clock.advance(30_000);
      const other = await s.w.client();
      await other.request('session/load', { sessionId: s.sessionId, cwd: s.w.dir, mcpServers: [] });
      await other.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
      await prompt;
      assert.deepEqual([(await s.result()).ok, await text(s, 'a.txt')], [true, 'edited\n'], `${method} ${leaves}`);
    }
  }
});
