/** What a question to a person says: its heading, its warnings, its choices. Pure; it never chooses. */
import type { PermissionOption, RequestPermissionRequest, ToolCallUpdate } from '@agentclientprotocol/sdk';
import { visible } from './plain-text.ts';
import { type Proposal, patchFiles } from './proposal.ts';
import { counted, relativePath } from './words.ts';

/** As the question of a person: it is read before anything else. */
export function questionOf({ name, title }: ToolCallUpdate, proposal: Proposal, cwd: string | undefined): string {
  switch (proposal.kind) {
    case 'command':
      return 'Run this command?';
    case 'edit':
      return `Edit ${visible(relativePath(proposal.path, cwd))}?`;
    case 'write':
      return `Write ${visible(relativePath(proposal.path, cwd))}?`;
    case 'patch': {
      const [first, ...others] = patchFiles(proposal.patch);
      if (first === undefined) return 'Apply this patch?';
      return others.length === 0 ? `Change ${visible(first)}?` : `Change ${counted(others.length + 1, 'file')}?`;
    }
    case 'plan':
    case 'fields':
    case 'json':
      return `Use ${visible(name ?? title ?? 'this tool')}?`;
  }
}

/** What the server says of the arguments: warnings first, then all of them with every character visible. */
export function said({ content }: ToolCallUpdate): { warnings: string[]; everything: string } {
  const texts = (content ?? []).flatMap((part) =>
    part.type === 'content' && part.content.type === 'text' ? [part.content.text] : [],
  );
  const isWarning = (text: string) => text.startsWith('Careful: ');
  return { warnings: texts.slice(0, -1).filter(isWarning), everything: texts.at(-1) ?? '' };
}

export interface Choices {
  once: PermissionOption | undefined;
  always: PermissionOption | undefined;
  reject: PermissionOption | undefined;
  never: PermissionOption | undefined;
}

export function choicesOf({ options }: Pick<RequestPermissionRequest, 'options'>): Choices {
  const of = (kind: PermissionOption['kind']) => options.find((option) => option.kind === kind);
  return { once: of('allow_once'), always: of('allow_always'), reject: of('reject_once'), never: of('reject_always') };
}

interface Left {
  expiresAt: number | undefined;
  /** The Turn that asked ends, or has ended. */
  turnEnds: boolean;
}

/** Where clocks differ a little, a question that ran out is not called answered. */
const LENIENCE_MS = 2_000;

/** Why a question left that was not answered here. */
export function leftBecause({ expiresAt, turnEnds }: Left, now: number): string {
  if (expiresAt !== undefined && now + LENIENCE_MS >= expiresAt) return 'Nobody answered in time: it was not allowed.';
  if (turnEnds) return 'The Turn has ended: nothing is asked any more.';
  return 'Answered elsewhere.';
}
