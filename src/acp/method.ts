/** What an ACP method is: a name, a schema for its params, and a handler that therefore re-checks nothing. */
import * as z from 'zod';
import type { Agent } from './agent.ts';
import type { Connection } from './connection.ts';
import type { Methods, Notifications } from './wire.ts';

export interface MethodContext {
  agent: Agent;
  connection: Connection;
  /** Aborts when the client cancels this request; not when it goes away, which cancels nothing. */
  signal: AbortSignal;
  /** Does something once the answer is on the wire, and nothing if the request fails. */
  afterAnswer(action: () => void): void;
  /** Resolves when the request has been answered, with whatever. */
  answered: Promise<void>;
}

export interface Method<S extends z.ZodType = z.ZodType, R = unknown> {
  name: string;
  /** A notification is never answered, whatever it causes. */
  kind: 'request' | 'notification';
  params: S;
  handle(params: z.infer<S>, context: MethodContext): Promise<R> | R;
}

type Name = keyof (Methods & Notifications);
type Result<N extends Name> = N extends keyof Methods ? Methods[N]['result'] : undefined | Promise<void>;

/** Gives the schema's type to the handler, checks its answer against the wire, and hands it out as a plain one for the table. */
export function defineMethod<N extends Name, S extends z.ZodType>(method: Method<S, Result<N>> & { name: N }): Method {
  return method as unknown as Method;
}

// Shapes that several methods share.

export const sessionIdSchema = z.string();

/** Whether the directory exists and may be used is the runtime's business; that it is absolute is the protocol's. */
export const cwdSchema = z.string().regex(/^(\/|[A-Za-z]:[\\/])/, 'must be an absolute path');

const MAX_DIRECTORIES = 16;

/** The list of a request is complete: none means that there are none any more. */
export const directoriesSchema = z
  .array(cwdSchema)
  .max(MAX_DIRECTORIES)
  .nullish()
  .transform((paths) => paths ?? []);
