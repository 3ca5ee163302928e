/**
 * Frames as the bridge reads them: it looks at method, ids, the Session and what rides in `_meta.pixir`, and must leave
 * every other member as it came. Pure.
 */
import type { RequestId } from '../acp/jsonrpc.ts';

type Members = Record<string, unknown>;

/** What came from the server. Its own JSON-RPC is sound; what the members hold is not looked at until it matters. */
export interface Frame {
  jsonrpc: '2.0';
  id?: RequestId;
  method?: string;
  params?: Members;
  result?: unknown;
  error?: unknown;
}

/** Undefined: it is no JSON, so no server of ours has sent it. */
export function parseFrame(text: string): Frame | undefined {
  try {
    return (JSON.parse(text) as Frame | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** The members of an object; of anything else there are none. */
export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

/** What rides for us in params, in a result or in capabilities. */
export function pixirOf(holder: unknown): Members {
  return membersOf(membersOf(membersOf(holder)._meta).pixir);
}

/** The same with more in `_meta.pixir`. */
export function withPixir(holder: unknown, more: Members): Members {
  const members = membersOf(holder);
  return { ...members, _meta: { ...membersOf(members._meta), pixir: { ...pixirOf(holder), ...more } } };
}

/** As it is for a client that did not ask for cursors: without them, and without the shells they would leave. */
export function withoutCursor(holder: Members): Members {
  const { cursor, replace, ...pixir } = pixirOf(holder);
  if (cursor === undefined && replace === undefined) return holder;
  const { pixir: _, ...others } = membersOf(holder._meta);
  const { _meta: __, ...rest } = holder;
  const meta = Object.keys(pixir).length > 0 ? { ...others, pixir } : others;
  return Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest;
}

/** The Session that a frame's params are about; undefined when they name none. */
export function sessionIdOf(params: unknown): string | undefined {
  const { sessionId } = membersOf(params);
  return typeof sessionId === 'string' ? sessionId : undefined;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
