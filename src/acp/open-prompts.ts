/** What ends a Session for its client shares: its prompts are answered first, and a Session that is not there is no fault. */
import { CoreError } from '../core/errors.ts';
import type { Connection } from './connection.ts';

/** The connection's prompts will say `cancelled`, however their Turns end. @returns when they have been answered. */
export async function cancelPrompts(connection: Connection, sessionId: string): Promise<void> {
  const prompts = [...connection.prompts(sessionId)];
  for (const prompt of prompts) prompt.cancelRequested = true;
  await Promise.all(prompts.map(({ answered }) => answered));
}

export async function unlessUnknown(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof CoreError && error.code === 'unknown_session')) throw error;
  });
}
