/** `skill`: takes up a skill, or shows a file of its directory. It runs nothing, and reaches nothing else. */
import { dirname, normalize } from 'node:path';
import * as z from 'zod';
import { CoreError } from '../core/errors.ts';
import type { FindSkills, Skill } from '../core/skills.ts';
import { defineTool, type Tool } from '../core/tool.ts';
import { firstBytes, OUTPUT_BYTES } from './bounded.ts';
import { pathTitle } from './presentation.ts';
import { SKILL_FILE } from './skill-files.ts';
import { readText } from './text-file.ts';
import { checkAborted } from './workspace.ts';

export function createSkill(find: FindSkills): Tool {
  return defineTool({
    name: 'skill',
    description: 'Take up a skill, or read the file at path in its directory.',
    kind: 'read',
    effect: () => 'read',
    schema: z.strictObject({
      name: z.string().min(1),
      path: z.string().min(1).optional(),
    }),
    title: ({ name, path }) => pathTitle('skill', path === undefined ? name : `${name}: ${path}`),
    async run({ name, path = SKILL_FILE }, { workspace, signal }) {
      const skill = await skillNamed(find, name, workspace, signal);
      if (isMain(path)) return { ok: true, output: 'The instructions follow.', skill: forModel(skill) };
      return { ok: true, output: await fileOf(skill, path, signal) };
    },
    async dryRun({ name, path = SKILL_FILE }, { workspace, signal }) {
      const skill = await skillNamed(find, name, workspace, signal);
      if (isMain(path)) return { ok: true, output: `would take up ${forModel(skill).name}` };
      return { ok: true, output: `would read ${Buffer.byteLength(await fileOf(skill, path, signal))} bytes` };
    },
  });
}

async function skillNamed(find: FindSkills, name: string, workspace: string, signal: AbortSignal): Promise<Skill> {
  checkAborted(signal);
  const skills = await find(workspace);
  checkAborted(signal);
  const skill = skills.find((candidate) => candidate.name === name);
  if (skill) return skill;
  const known = skills.filter(({ userOnly }) => !userOnly).map((candidate) => candidate.name);
  throw new CoreError('not_found', 'there is no such skill', { known });
}

function isMain(path: string): boolean {
  return normalize(path) === SKILL_FILE;
}

function forModel(skill: Skill): Skill {
  if (skill.userOnly) throw new CoreError('permission_denied', 'only the user may take up this skill');
  return skill;
}

async function fileOf({ path: main }: Skill, path: string, signal: AbortSignal): Promise<string> {
  const { text } = await readText({ workspace: dirname(main), additionalDirectories: [], signal }, path);
  checkAborted(signal);
  const shown = firstBytes(text, OUTPUT_BYTES);
  if (shown === text) return text;
  return `${shown}\n[truncated: showing the first ${Buffer.byteLength(shown)} of ${Buffer.byteLength(text)} bytes]`;
}
