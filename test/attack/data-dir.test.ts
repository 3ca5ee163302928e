/** A Workspace that holds the server's own data, as somebody's home does. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { toCoreError } from '../../src/core/errors.ts';
import type { Tool } from '../../src/core/tool.ts';
import { claimDataDir } from '../../src/store/data-dir.ts';
import { createTools } from '../../src/tools/index.ts';
import { openWorkspace } from '../tools/support.ts';

const SECRET = 'canary-5b2e';

function toolIn(data: string, name: string): Tool {
  const tool = createTools({ env: {}, hidden: [data] }).find((candidate) => candidate.name === name);
  assert.ok(tool);
  return tool;
}

test('[ATK8] the data directory is out of reach of every file tool and of every search, also inside the Workspace', async () => {
  await using ground = await openWorkspace({ 'a.txt': 'mine', 'share/pixir/pixir.db': '' });
  const data = ground.path('share/pixir');
  const lock = claimDataDir(data);
  await mkdir(join(data, 'tokens'));
  for (const file of ['token', 'tokens/x.json', 'config.json']) await writeFile(join(data, file), SECRET);
  /** What it says, or the code with which it refuses. */
  const call = (tool: string, args: Record<string, unknown>) =>
    toolIn(data, tool)
      .run(args, ground.context())
      .then(
        ({ output }) => output,
        (error: unknown) => toCoreError(error).code,
      );
  const attempts: [string, Record<string, unknown>][] = [
    ['read', { path: 'share/pixir/token' }],
    ['read', { path: 'share/pixir/tokens/x.json' }],
    ['list', { path: 'share/pixir' }],
    ['write', { path: 'share/pixir/config.json', content: '{}' }],
    ['write', { path: 'share/pixir/new/file', content: 'x' }],
    ['edit', { path: 'share/pixir/token', old_string: SECRET, new_string: 'x' }],
    ['grep', { pattern: SECRET, path: 'share/pixir' }],
  ];
  for (const [tool, args] of attempts) {
    assert.equal(await call(tool, args), 'protected_path', `${tool} ${JSON.stringify(args)}`);
  }
  for (const [tool, args] of [
    ['grep', { pattern: SECRET }],
    ['grep', { pattern: SECRET, glob: '**/token*' }],
    ['grep', { pattern: SECRET, glob: '**' }],
    ['glob', { pattern: '**/token*' }],
    ['glob', { pattern: '**/pixir/**' }],
  ] as const) {
    assert.doesNotMatch(await call(tool, args), /canary|share\/pixir\/tok/, tool);
  }
  assert.equal(await readFile(join(data, 'token'), 'utf8'), SECRET);
  lock.release();
});

test('[ATK8] where the Workspace is the data directory itself, the files of the server are out of reach, and nothing else', async () => {
  await using ground = await openWorkspace({
    'pixir.db': '',
    token: SECRET,
    'provider-key': SECRET,
    'tokens/x.json': SECRET,
    'own.txt': 'mine',
  });
  const call = (tool: string, args: Record<string, unknown>) =>
    toolIn(ground.directory, tool)
      .run(args, ground.context())
      .then(
        ({ output }) => output,
        (error: unknown) => toCoreError(error).code,
      );
  for (const path of ['token', 'provider-key']) assert.equal(await call('read', { path }), 'protected_path');
  assert.equal(await call('list', { path: 'tokens' }), 'protected_path');
  assert.equal(await call('write', { path: 'config.json', content: '{}' }), 'protected_path');
  for (const glob of ['**', 'token*', '**/*.json']) {
    assert.doesNotMatch(await call('grep', { pattern: SECRET, glob }), /canary/, glob);
  }
  assert.match(await call('read', { path: 'own.txt' }), /mine/);
  assert.match(await call('grep', { pattern: 'mine' }), /own\.txt/);
});
