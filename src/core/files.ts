/** The files of a Session's Workspace, found by a few letters. It names files and opens none. */
import { rank } from './fuzzy.ts';
import type { Principal } from './principal.ts';
import { reachSession, workspaceFor } from './reach.ts';
import type { Runtime } from './runtime.ts';

/** So many are ranked in a few milliseconds. */
const SLICE = 2_000;

interface FileQuery {
  sessionId: string;
  query: string;
  limit: number;
}

/** @throws CoreError `forbidden`, `unknown_session`, `invalid_params` where the Workspace is not there or not allowed. */
export async function findFiles(
  runtime: Runtime,
  principal: Principal,
  { sessionId, query, limit }: FileQuery,
  signal: AbortSignal,
): Promise<{ workspace: string; paths: string[] }> {
  const { workspace } = await reachSession(runtime, principal, sessionId, 'prompt');
  await workspaceFor(runtime, principal, workspace);
  const files = await runtime.listFiles(workspace, signal);
  let paths: string[] = [];
  for (let from = 0; from < files.length; from += SLICE) {
    if (from > 0) await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    paths = rank(query, [...paths, ...files.slice(from, from + SLICE)], limit);
  }
  return { workspace, paths };
}
