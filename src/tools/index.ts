/** The table of tools. A new tool is one file and one line here; nothing else in the runtime names it. */
import type { FindSkills } from '../core/skills.ts';
import type { Tool } from '../core/tool.ts';
import { applyPatch } from './apply-patch.ts';
import { askUser } from './ask-user.ts';
import { createBash } from './bash.ts';
import type { Variables } from './child-env.ts';
import { edit } from './edit.ts';
import { createGlob } from './glob.ts';
import { createGrep } from './grep.ts';
import { list } from './list.ts';
import { read } from './read.ts';
import { noSandbox, type Sandbox } from './sandbox.ts';
import { createSkill } from './skill.ts';
import { updatePlan } from './update-plan.ts';
import { write } from './write.ts';

interface ToolOptions {
  /** The variables of this process, from which commands are given a few. */
  env: Variables;
  /** What confines commands; nothing does where there is none. */
  sandbox?: Sandbox;
  /** Absolute real paths that are nobody's business, also inside a Workspace: the data directory. */
  hidden?: readonly string[];
  /** There are none where nothing finds them. */
  findSkills?: FindSkills;
}

export function createTools({
  env,
  sandbox = noSandbox,
  hidden = [],
  findSkills = async () => [],
}: ToolOptions): Tool[] {
  return [
    applyPatch,
    askUser,
    createBash(env, sandbox),
    edit,
    createGlob(hidden),
    createGrep(hidden),
    list,
    read,
    createSkill(findSkills),
    updatePlan,
    write,
  ];
}
