/** One connection's own state, as the methods see it. What belongs to a Session is not here. */
import type { ClientCapabilities } from '@agentclientprotocol/sdk';
import type { Session } from '../core/session.ts';
import type { Position } from './cursor.ts';
import type { Feed, FeedOptions } from './feed.ts';

/** A prompt of this connection that is not answered yet. */
export interface OpenPrompt {
  cancelRequested: boolean;
}

/** Decides where a Feed begins, once the Session is open and nothing of it can be missed any more. */
export type AttachPlan = (session: Session) => Promise<{ position: Position; options?: Partial<FeedOptions> }>;

export interface Connection {
  /** Who is on the other side, as admission found out. */
  principal: string;
  /** @throws ProtocolError when the connection is initialized already. */
  initialize(capabilities: ClientCapabilities): void;
  /** The client asked for cursors in `initialize`. */
  readonly cursors: boolean;
  /**
   * The connection's Feed of this Session, for a method that changes something; attached at the head where there is
   * none yet.
   *
   * @throws ProtocolError when the connection only observes this Session.
   */
  control(sessionId: string): Promise<Feed>;
  /** The connection is attached to this Session as an observer. */
  observes(sessionId: string): Promise<boolean>;
  /** Replaces the connection's Feed of this Session by one that begins where `plan` says. The caller starts it. */
  attach(sessionId: string, plan: AttachPlan): Promise<Feed>;
  /** Ends the connection's Feed of this Session; false when there is none. */
  detach(sessionId: string): boolean;
  /** Resolves when this connection has been sent everything of the Session up to `seq`, or has ended. */
  sent(sessionId: string, seq: number): Promise<void>;
  /** The prompts of this connection that wait for an answer, by Session. */
  prompts(sessionId: string): Set<OpenPrompt>;
}
