/** The live item: the one message or thought that is still streaming. It is not in the Log; it dies with its commit. */

import { newId } from './event.ts';
import type { LiveDraft } from './log.ts';

export interface LiveItem {
  turnId: string;
  messageId: string;
  kind: 'message' | 'thought';
  text: string;
  /** The Session's head when the item began: a reader that has seen this much can be shown the item. */
  after: number;
}

const PREFIXES = { message: 'msg', thought: 'tht' } as const;

export function beginItem(turnId: string, kind: LiveItem['kind'], after: number): LiveItem {
  return { turnId, messageId: newId(PREFIXES[kind]), kind, text: '', after };
}

/** What an item was, also when nothing but its id is left of it. */
export function kindOfItem(messageId: string): LiveItem['kind'] {
  return messageId.startsWith(PREFIXES.thought) ? 'thought' : 'message';
}

/** Below the 250 ms that a crash may cost, to leave time for the commit itself. */
const DRAFT_INTERVAL_MS = 200;

/** The next draft is due at the same moment in all Sessions, so that their drafts share one commit. */
export function untilNextDraft(now: number): number {
  return DRAFT_INTERVAL_MS - (now % DRAFT_INTERVAL_MS);
}

export function draftOf({ turnId, messageId, kind, text }: LiveItem): LiveDraft {
  return { turnId, messageId, kind, text };
}
