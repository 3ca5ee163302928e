/**
 * The Sessions that the page has open: the last few that were on the screen, so that going back to one is at once, and those
 * with prompts that are still to be sent or answered.
 */
import type { Client } from '../server/client.ts';
import { OpenSession } from './open-session.ts';
import { sessionsWithQueue } from './queue.ts';

const KEPT_OPEN = 4;

export interface Shown {
  /** The one of this id, opened where it is not. */
  session(sessionId: string): OpenSession;
  /** It was deleted, or must be opened anew. */
  drop(sessionId: string): void;
}

export function createShown(client: Client): Shown {
  /** The one that was asked for last stands last. */
  const open = new Map<string, OpenSession>();

  function drop(sessionId: string): void {
    open.get(sessionId)?.close();
    open.delete(sessionId);
  }

  function session(sessionId: string): OpenSession {
    const found = open.get(sessionId) ?? new OpenSession(client, sessionId);
    open.delete(sessionId);
    open.set(sessionId, found);
    const idle = [...open.values()].filter(({ isWaiting }) => !isWaiting);
    for (const { sessionId: oldest } of idle.slice(0, -KEPT_OPEN)) if (oldest !== sessionId) drop(oldest);
    return found;
  }

  // What an earlier life of the page did not get to send goes on, whatever is on the screen.
  for (const sessionId of sessionsWithQueue()) session(sessionId);
  return { session, drop };
}
