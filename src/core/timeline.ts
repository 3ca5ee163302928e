/** A Session's Log as it was recorded, for whoever wants to see or check it. It reads the Log and opens no Session. */
import type { Entry, Verification } from './log.ts';
import type { Principal } from './principal.ts';
import { reachSession } from './reach.ts';
import type { Runtime } from './runtime.ts';

/**
 * The newest `limit` entries before a seq, or before the end, oldest first.
 *
 * @throws CoreError `forbidden`, `unknown_session`, `log_corrupt`.
 */
export async function readBack(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
  { before = Number.POSITIVE_INFINITY, limit }: { before?: number | undefined; limit: number },
): Promise<{ entries: Entry[]; epoch: string }> {
  const { head } = await reachSession(runtime, principal, sessionId, 'observe');
  const end = Math.min(before, head.seq + 1);
  const after = Math.max(-1, end - 1 - limit);
  const entries = end > 0 ? await runtime.log.read(sessionId, after, end - 1 - after) : [];
  return { entries, epoch: head.epoch };
}

/** @throws CoreError `forbidden`, `unknown_session`. */
export async function verifySession(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
  signal: AbortSignal,
): Promise<Verification> {
  await reachSession(runtime, principal, sessionId, 'observe');
  return await runtime.verifyLog(sessionId, signal);
}
