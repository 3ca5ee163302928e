/** The table of tools. A new tool is one file and one line here; nothing else in the runtime names it. */
import type { Tool } from '../core/tool.ts';
import { applyPatch } from './apply-patch.ts';
import { createBash } from './bash.ts';
import type { Variables } from './child-env.ts';
import { edit } from './edit.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { list } from './list.ts';
import { read } from './read.ts';
import { noSandbox, type Sandbox } from './sandbox.ts';
import { updatePlan } from './update-plan.ts';
import { write } from './write.ts';

/**
 * @param env the variables of this process, from which commands are given a few.
 * @param sandbox what confines commands; nothing does where there is none.
 */
export function createTools({ env, sandbox = noSandbox }: { env: Variables; sandbox?: Sandbox }): Tool[] {
  return [
    applyPatch, //
    createBash(env, sandbox),
    edit,
    glob,
    grep,
    list,
    read,
    updatePlan,
    write,
  ];
}
