/** Skills in real directories, good and hostile. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSkill } from '../../src/tools/skill.ts';
import { createSkillFinder } from '../../src/tools/skill-files.ts';
import { errorOf, openWorkspace, type Workspace } from './support.ts';

const written = (name: string, body = 'Body.', more = '') =>
  `---\nname: ${name}\ndescription: For ${name}\n${more}---\n${body}\n`;
const inRoot = (skills: Record<string, string>, root = '.agents/skills') =>
  Object.fromEntries(Object.entries(skills).map(([directory, text]) => [`${root}/${directory}/SKILL.md`, text]));

/** The skills of a Workspace alone, by name, and what was said of the others. */
async function found(workspace: Workspace) {
  const warnings: string[] = [];
  const find = createSkillFinder({ warn: (message) => warnings.push(message) });
  const skills = await find(workspace.directory);
  await find(workspace.directory);
  return { names: skills.map(({ name }) => name), skills, warnings };
}

test('[SKILL1] the nearer of two skills with one name counts, whichever directories they are in', async () => {
  await using workspace = await openWorkspace(inRoot({ a: written('review', 'Near.') }));
  await using home = await openWorkspace(inRoot({ x: written('review', 'Far.'), y: written('deploy', 'Mine.') }));
  const stored = { z: written('deploy'), w: written('test') };
  await using dataDir = await openWorkspace({ 'pixir.db': '', token: 'secret', ...inRoot(stored, 'skills') });
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const find = createSkillFinder({ home: home.directory, dataDir: dataDir.directory, warn });
  const skills = await find(workspace.directory);
  assert.deepEqual(
    skills.map(({ name, scope, path }) => [name, scope, path]),
    [
      ['deploy', 'user', home.path('.agents/skills/y/SKILL.md')],
      ['review', 'workspace', workspace.path('.agents/skills/a/SKILL.md')],
      ['test', 'pixir', dataDir.path('skills/w/SKILL.md')],
    ],
  );
  const [deploy] = skills;
  assert.equal(deploy?.content, written('deploy', 'Mine.'));
  assert.equal(deploy?.contentHash, hash('sha256', deploy?.content ?? '', 'hex'));
  assert.equal(warnings.filter((message) => /same name/.test(message)).length, 2);
  const atHome = await find(home.directory);
  assert.deepEqual(
    atHome.map(({ scope }) => scope),
    ['workspace', 'workspace', 'pixir'],
    'a Workspace can be the home',
  );
  assert.deepEqual(await createSkillFinder()('/does/not/exist'), []);
});

test('[SKILL2] what is bad or leads elsewhere is left out, said once, and costs no other', async () => {
  await using elsewhere = await openWorkspace({ 'SKILL.md': written('stolen'), 'dir/SKILL.md': written('stolen') });
  await using workspace = await openWorkspace({
    ...inRoot({ good: written('good'), spaces: written('a b'), newline: written('"a\nb"'), none: 'Nothing.' }),
    '.agents/skills/binary/SKILL.md': Buffer.from([0x2d, 0xff, 0xfe]),
    '.agents/skills/empty/other.md': '',
    '.agents/skills/loose.md': written('loose'),
    '.agents/skills/huge/SKILL.md': written('huge').padEnd(64 * 1024 + 1, '.'),
    '.agents/skills/edge/SKILL.md': written('edge').padEnd(64 * 1024, '.'),
    '.agents/skills/inside/real.md': written('inside'),
  });
  const at = (name: string) => workspace.path(`.agents/skills/${name}`);
  for (const name of ['file', 'fifo', 'directory', 'loop']) await mkdir(at(name));
  await symlink(elsewhere.path('SKILL.md'), at('file/SKILL.md'));
  await symlink(elsewhere.path('dir'), at('linked'));
  await symlink('real.md', at('inside/SKILL.md'));
  await symlink('SKILL.md', at('loop/SKILL.md'));
  await mkdir(at('directory/SKILL.md'));
  await workspace.run('bash', { command: 'mkfifo .agents/skills/fifo/SKILL.md' });
  const { names, warnings } = await found(workspace);
  assert.deepEqual(names, ['edge', 'good', 'inside']);
  const blamed = warnings.map((message) => /skills\/(\w+) is left out: ./.exec(message)?.[1]);
  const bad = ['binary', 'directory', 'fifo', 'file', 'huge', 'linked', 'loop', 'newline', 'none', 'spaces'];
  assert.deepEqual(blamed.sort(), bad, warnings.join('\n'));
});

test('[SKILL2] a directory of skills that leads out of the Workspace is none', async () => {
  await using elsewhere = await openWorkspace({ 'skills/a/SKILL.md': written('stolen') });
  await using workspace = await openWorkspace();
  await symlink(elsewhere.directory, workspace.path('.agents'));
  const { names, warnings } = await found(workspace);
  assert.deepEqual([names, warnings.length], [[], 1]);
});

test('[SKILL2] of thousands of skills two hundred are read', async () => {
  await using workspace = await openWorkspace(
    inRoot(Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`d${n}`, written(`s${n}`)]))),
  );
  const { names, warnings } = await found(workspace);
  assert.deepEqual([names.length, warnings.length], [200, 1]);
});

test('[SKILL7] nothing outside the directory of a skill is shown, and nothing that is only for people', async () => {
  await using workspace = await openWorkspace({
    ...inRoot({ review: written('review'), mine: written('mine', 'Body.', 'disable-model-invocation: true\n') }),
    '.agents/skills/review/docs/a.md': 'Look closely.',
    '.agents/skills/review/.ssh/key': 'secret',
    '.agents/skills/mine/b.md': 'Mine, too.',
    'secret.txt': 'secret',
  });
  await symlink(workspace.path('secret.txt'), workspace.path('.agents/skills/review/out.md'));
  await link(workspace.path('.agents/skills/review/docs/a.md'), workspace.path('.agents/skills/review/again.md'));
  const skill = createSkill(createSkillFinder());
  const run = (args: object) => skill.run(skill.schema.parse(args), workspace.context());
  assert.equal((await run({ name: 'review' })).skill?.content, written('review'));
  assert.equal((await run({ name: 'review', path: './docs/../SKILL.md' })).skill?.name, 'review');
  assert.deepEqual(await run({ name: 'review', path: 'docs/a.md' }), { ok: true, output: 'Look closely.' });
  assert.deepEqual(await run({ name: 'mine', path: 'b.md' }), { ok: true, output: 'Mine, too.' });
  const refused: [object, string][] = [
    [{ name: 'review', path: 'out.md' }, 'outside_workspace'],
    [{ name: 'review', path: '../mine/b.md' }, 'outside_workspace'],
    [{ name: 'review', path: join(workspace.directory, 'secret.txt') }, 'outside_workspace'],
    [{ name: 'review', path: '.ssh/key' }, 'protected_path'],
    [{ name: 'review', path: 'docs' }, 'not_a_file'],
    [{ name: 'review', path: 'none.md' }, 'not_found'],
    [{ name: 'mine' }, 'permission_denied'],
    [{ name: 'mine', path: './SKILL.md' }, 'permission_denied'],
    [{ name: '../review' }, 'not_found'],
  ];
  for (const [args, code] of refused) assert.equal((await errorOf(run(args))).code, code, JSON.stringify(args));
  assert.deepEqual((await errorOf(run({ name: 'none' }))).details, { known: ['review'] });
  await writeFile(workspace.path('.agents/skills/review/SKILL.md'), 'broken');
  assert.deepEqual((await errorOf(run({ name: 'review' }))).code, 'not_found');
});
