/** One connection's own state, as the methods see it. What belongs to a Session is not here. */
import type { ClientCapabilities } from '@agentclientprotocol/sdk';
import type { ClientServices } from '../core/client-services.ts';
import type { Principal } from '../core/principal.ts';
import type { Feeds } from './feeds.ts';
import type { ListWatch } from './list-watch.ts';

/** A prompt of this connection that is not answered yet. */
export interface OpenPrompt {
  cancelRequested: boolean;
  answered: Promise<void>;
}

export interface Connection {
  /** Who is on the other side, as admission found out. */
  principal: Principal;
  feeds: Feeds;
  listWatch: ListWatch;
  /** The client can show notices. */
  readonly notices: boolean;
  /** @throws ProtocolError when the connection is initialized already. */
  initialize(capabilities: ClientCapabilities): void;
  /** What the client has offered to do for the tools of this Session. */
  services(sessionId: string): ClientServices;
  /** The prompts of this connection that wait for an answer, by Session. */
  prompts(sessionId: string): Set<OpenPrompt>;
}
