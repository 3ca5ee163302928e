/**
 * Where skills come from: directories with a SKILL.md, in the Workspace, in the home of who runs the server, and in the
 * data directory. Nothing outside a skill's own directory is ever read, and no number or size of them takes long.
 */
import { hash } from 'node:crypto';
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CoreError, toCoreError } from '../core/errors.ts';
import { type FindSkills, readFrontMatter, type Skill } from '../core/skills.ts';
import { visible } from '../core/visible.ts';
import { decode } from './text-file.ts';
import { notAFile, openDirectory, openInside } from './workspace.ts';

export const SKILL_FILE = 'SKILL.md';

const MAX_SKILLS = 200;
const MAX_ENTRIES = 1_000;
const MAX_BYTES = 64 * 1024;
const MAX_WARNINGS = 1_000;

interface SkillPlaces {
  home?: string | undefined;
  dataDir?: string | undefined;
  /** Hears once of each skill that is there and cannot be used. */
  warn?(message: string): void;
}

interface Place {
  scope: Skill['scope'];
  /** The skills are below it, whatever symlinks lead there. */
  base: string | undefined;
  path: string;
}

type Complain = (path: string, why: string) => void;

export function createSkillFinder({ home, dataDir, warn = () => {} }: SkillPlaces = {}): FindSkills {
  const warned = new Set<string>();
  const complain: Complain = (path, why) => {
    const message = `skill ${visible(path)} is left out: ${why}`;
    if (warned.has(message) || warned.size >= MAX_WARNINGS) return;
    warned.add(message);
    warn(message);
  };

  return async (workspace) => {
    const found = new Map<string, Skill>();
    const places: Place[] = [
      { scope: 'workspace', base: workspace, path: '.agents/skills' },
      { scope: 'user', base: home, path: '.agents/skills' },
      { scope: 'pixir', base: dataDir, path: 'skills' },
    ];
    const directories = await directoriesOf(places, complain);
    const read = directories.map(async ([directory, scope]) => ({
      directory,
      skill: await readSkill(scope, directory).catch(toCoreError),
    }));
    for (const { directory, skill } of await Promise.all(read)) {
      if (skill instanceof CoreError) {
        if (skill.code !== 'not_found') complain(directory, skill.message);
        continue;
      }
      const nearer = found.get(skill.name);
      if (nearer) complain(directory, `${visible(nearer.path)} has the same name`);
      else found.set(skill.name, skill);
    }
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  };
}

/** The nearest first, each once: a Workspace can be somebody's home. */
async function directoriesOf(places: Place[], complain: Complain): Promise<[string, Place['scope']][]> {
  const listed = await Promise.all(places.map((place) => directoriesIn(place, complain)));
  const all = new Map<string, Place['scope']>();
  for (const [index, { scope }] of places.entries()) {
    for (const directory of listed[index] ?? []) if (!all.has(directory)) all.set(directory, scope);
  }
  const [beyond] = [...all.keys()].slice(MAX_SKILLS);
  if (beyond) complain(beyond, `there are more than ${MAX_SKILLS}`);
  return [...all].slice(0, MAX_SKILLS);
}

/** Real paths, by name. An entry that is a symlink is none of them: it could lead anywhere. */
async function directoriesIn({ base, path }: Place, complain: Complain): Promise<string[]> {
  if (base === undefined || !(await stat(join(base, path)).catch(() => undefined))) return [];
  const found: string[] = [];
  try {
    await using directory = await openDirectory({ workspace: base, additionalDirectories: [] }, path);
    let entries = 0;
    for await (const entry of await opendir(directory.at)) {
      const at = join(directory.path, entry.name);
      if (entry.isDirectory()) found.push(at);
      if (entry.isSymbolicLink()) complain(at, 'it is a symlink');
      if (++entries >= MAX_ENTRIES) break;
    }
  } catch (error) {
    complain(join(base, path), toCoreError(error).message);
  }
  return found.sort();
}

/** @throws CoreError: there is none, or it cannot be used. */
async function readSkill(scope: Skill['scope'], directory: string): Promise<Skill> {
  const { handle, stats } = await openInside({ workspace: directory, additionalDirectories: [] }, SKILL_FILE);
  try {
    if (!stats.isFile()) throw notAFile(SKILL_FILE);
    if (stats.size > MAX_BYTES) throw new CoreError('too_large', `it is larger than ${MAX_BYTES} bytes`);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(stats.size));
    const content = decode(buffer.subarray(0, bytesRead));
    if (content === undefined) throw new CoreError('binary_file', 'it is not UTF-8 text');
    const said = readFrontMatter(content);
    if (typeof said === 'string') throw new CoreError('invalid_params', said);
    return { ...said, scope, path: join(directory, SKILL_FILE), contentHash: hash('sha256', content, 'hex'), content };
  } finally {
    await handle.close();
  }
}
