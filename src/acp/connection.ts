/** One connection's own state, as the methods see it. What belongs to a Session is not here. */
import type { ClientCapabilities } from '@agentclientprotocol/sdk';
import type { Feed } from './feed.ts';

/** A prompt of this connection that is not answered yet. */
export interface OpenPrompt {
  cancelRequested: boolean;
}

export interface Connection {
  /** Who is on the other side, as admission found out. */
  principal: string;
  /** @throws ProtocolError when the connection is initialized already. */
  initialize(capabilities: ClientCapabilities): void;
  /** The connection's Feed of this Session; attached at the head where there is none yet. */
  feed(sessionId: string): Promise<Feed>;
  /** Replaces the connection's Feed of this Session by one that begins anew. */
  attach(sessionId: string, from: 'start' | 'head'): Promise<Feed>;
  /** Resolves when this connection has been sent everything of the Session up to `seq`, or has ended. */
  sent(sessionId: string, seq: number): Promise<void>;
  /** The prompts of this connection that wait for an answer, by Session. */
  prompts(sessionId: string): Set<OpenPrompt>;
}
