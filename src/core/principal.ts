/**
 * Who asks: a name, whose Sessions it may reach, and what it may do with them. It comes from a credential and from
 * nowhere else: nothing that a client says of itself may ever add to it.
 */
import * as z from 'zod';
import { CoreError } from './errors.ts';
import type { Roots } from './roots.ts';

const SCOPES = ['observe', 'prompt', 'approve', 'admin'] as const;

/** `observe` reads; `prompt` also sends, cancels and configures; `approve` also decides permissions; `admin` manages the server. */
export const scopeSchema = z.enum(SCOPES);

export type Scope = z.infer<typeof scopeSchema>;

export interface Principal {
  /** Who acts, as the Log and the server's log name it. */
  readonly name: string;
  /** Whose Sessions these are: a person's devices have names of their own and one owner. */
  readonly owner: string;
  readonly scopes: readonly Scope[];
  /** Real directories: Sessions elsewhere are out of reach. Null: any that the server allows. */
  readonly workspaces: readonly string[] | null;
}

/** Whoever holds the data directory: its own token, stdio, the command line. */
export const LOCAL: Principal = Object.freeze({ name: 'local', owner: 'local', scopes: SCOPES, workspaces: null });

/** Who may prompt or approve may also see what comes of it. */
export function may({ scopes }: Principal, scope: Scope): boolean {
  return scopes.includes(scope) || (scope === 'observe' && (scopes.includes('prompt') || scopes.includes('approve')));
}

/** @throws CoreError `forbidden`. */
export function assertMay(principal: Principal, scope: Scope): void {
  if (!may(principal, scope)) throw new CoreError('forbidden', `the credential lacks the scope ${scope}`, { scope });
}

/** Whether the Session is there at all for this principal: its tools reach into every root, whoever asks. */
export function reaches(principal: Principal, session: Roots & { owner: string }): boolean {
  const { owner, workspace, additionalDirectories } = session;
  return owner === principal.owner && [workspace, ...additionalDirectories].every((root) => mayWorkIn(principal, root));
}

export function mayWorkIn({ workspaces }: Principal, path: string): boolean {
  return workspaces === null || workspaces.some((root) => isWithin(root, path));
}

/** Both paths are absolute and of the same system; where `/` separates, `\` is a character like any other. */
export function isWithin(root: string, path: string): boolean {
  const separator = root.startsWith('/') ? '/' : '\\';
  return path === root || path.startsWith(root.endsWith(separator) ? root : root + separator);
}
