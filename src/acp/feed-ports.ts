/** What a Feed needs of its connection, and how it reads. Types only: it must hold nothing. */
import type { PendingPermission } from '../core/session-state.ts';
import type { Role } from './wire.ts';

/** The connection, as a Feed sees it. */
export interface FeedSink {
  send(frame: string): void;
  /** True while the client is too far behind to be sent more; `kick` is called when it has caught up. */
  congested(): boolean;
  /** Puts a permission to the client. The returned function withdraws the question. */
  ask(sessionId: string, permission: PendingPermission): () => void;
  /** The terminal is this client's, and still there to be shown. */
  hasTerminal(terminalId: string): boolean;
  /** The Feed cannot go on: the Session's Log cannot be read. */
  fail(error: unknown): void;
  /** The Session was deleted: the Feed ends, and the client is told. */
  gone(sessionId: string): void;
}

/** Who reads, and how. */
export interface FeedOptions {
  /** The client asked for cursors in `initialize`. */
  cursors: boolean;
  /** The client said in `initialize` that it shows compactions. */
  compaction: boolean;
  /** An observer watches: it is asked nothing. */
  role: Role;
  /** It may decide permissions, so it is asked. */
  approves: boolean;
  /** Say `caught_up` once everything there was has been sent. */
  announce: boolean;
  /** Thoughts up to this seq are left out: session/load does not show them. */
  thoughtsAfter: number;
}
