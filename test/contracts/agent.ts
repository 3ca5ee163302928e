/**
 * What an ACP client can rely on, as one table of cases that every transport runs. Nothing in a case may depend on what
 * carries the frames.
 */
import { attaching } from './agent/attaching.ts';
import { cancelling } from './agent/cancelling.ts';
import { commands } from './agent/commands.ts';
import { compaction } from './agent/compaction.ts';
import { content } from './agent/content.ts';
import { handshake } from './agent/handshake.ts';
import { lifecycle } from './agent/lifecycle.ts';
import { permissions } from './agent/permissions.ts';
import { positions } from './agent/positions.ts';
import { prompts } from './agent/prompts.ts';
import { reloading } from './agent/reloading.ts';
import { roots } from './agent/roots.ts';
import { rules } from './agent/rules.ts';
import { sessions } from './agent/sessions.ts';
import { type Connect, casesOn } from './agent/stage.ts';
import { watching } from './agent/watching.ts';

export function agentContract(transport: string, connect: Connect): void {
  const all = [
    handshake,
    sessions,
    prompts,
    permissions,
    rules,
    cancelling,
    reloading,
    attaching,
    positions,
    content,
    roots,
    lifecycle,
    commands,
    compaction,
    watching,
  ];
  for (const cases of all) cases(casesOn(transport, connect));
}
