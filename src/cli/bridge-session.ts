/**
 * One Session that the editor is attached to: how far it has come, and what of the updates that come again it has been
 * shown already. A plain editor can take nothing back, so it must never be shown what would have to be.
 */
import { type Frame, membersOf, pixirOf, textOf } from './bridge-frames.ts';
import type { Outgoing } from './bridge-outbox.ts';

export interface BridgeSession {
  readonly id: string;
  /** The last position that the editor was shown; `head`: nothing yet, and only what comes; absent: nothing yet. */
  cursor: string | undefined;
  role: unknown;
  /**
   * `detached`: not on this connection yet. `attaching`: what comes belongs to an older subscription; in both it will
   * come again.
   */
  stage: 'detached' | 'attaching' | 'catching_up' | 'live';
  /** The editor attached by itself: it hears what is said to those who do. */
  announce: boolean;
  /** The editor asked for the past, so its own prompts in there are no echoes. */
  replaying: boolean;
  /** The `session/load` that is not answered yet. */
  load: Outgoing | undefined;
  /** The editor knows the commands; every subscription says them again. */
  offered: boolean;
  /** The commands, as long as a load is to be answered first. */
  offer: Frame | undefined;
  /** The user message that came last, and how many of its blocks were shown, now and altogether. */
  blocks: { messageId: unknown; now: number; shown: number } | undefined;
}

export function newBridgeSession(id: string, cursor: string | undefined): BridgeSession {
  return {
    id,
    cursor,
    role: undefined,
    stage: 'live',
    announce: false,
    replaying: false,
    load: undefined,
    offered: false,
    offer: undefined,
    blocks: undefined,
  };
}

/** What is said of this Session now is meant for the editor. */
export function isAttached({ stage }: BridgeSession): boolean {
  return stage === 'catching_up' || stage === 'live';
}

/** The editor gets everything from the beginning. */
export function fromStart(session: BridgeSession): void {
  session.cursor = undefined;
  session.blocks = undefined;
}

/** Notes where an update leads, and says whether the editor is to see it. `isOwn`: whose prompt the key is. */
export function takeUpdate(
  session: BridgeSession,
  params: Record<string, unknown>,
  plain: boolean,
  isOwn: (promptKey: string) => boolean,
): boolean {
  if (!isAttached(session)) return false;
  const meta = pixirOf(params);
  session.cursor = textOf(meta.cursor) ?? session.cursor;
  const { sessionUpdate, messageId } = membersOf(params.update);
  const promptKey = textOf(meta.promptKey);
  switch (sessionUpdate) {
    case 'user_message_chunk':
      if (promptKey !== undefined && !session.replaying && isOwn(promptKey)) return false;
      return !plain || isNewBlock(session, messageId, meta.replace === true);
    case 'agent_thought_chunk':
      // A load shows no thoughts of the past; an attach that goes on with one does.
      if (session.load?.result) return false;
      return !(plain && meta.replace);
    case 'agent_message_chunk':
      // A crash lost the tail of what was shown: all that comes is the part before it.
      return !(plain && meta.replace);
    case 'available_commands_update': {
      const isNew = !session.offered;
      session.offered = true;
      return isNew;
    }
    default:
      return true;
  }
}

/** A message of several blocks that was cut comes again as a whole. */
function isNewBlock(session: BridgeSession, messageId: unknown, again: boolean): boolean {
  const last = session.blocks;
  const blocks = last && last.messageId === messageId ? last : { messageId, now: 0, shown: 0 };
  session.blocks = blocks;
  if (again) blocks.now = 0;
  blocks.now += 1;
  if (blocks.now <= blocks.shown) return false;
  blocks.shown = blocks.now;
  return true;
}
