/**
 * What carries a Peer: a WebSocket, stdio, or an in-memory pair. A transport moves whole messages as text; it knows
 * nothing of JSON-RPC, Sessions or who is on the other side.
 */
import type { Principal } from '../core/principal.ts';

/** A transport that holds fewer unsent bytes than this can take more. */
export const LOW_WATER = 256 * 1024;

/** The outgoing half, implemented by whoever owns the connection. */
export interface Transport {
  /** Sends one message, without a trailing newline. Never throws; after the connection has ended it does nothing. */
  send(text: string): void;
  /** Ends the connection. `code` is a WebSocket close code; other transports ignore it. */
  close(code: number, reason: string): void;
  /** Bytes accepted by `send` and not yet taken by the other side's system. */
  readonly bufferedAmount: number;
  /** Registers the one callback that is called whenever `bufferedAmount` has fallen below `LOW_WATER`. */
  onDrain(callback: () => void): void;
}

/** The incoming half: what opening a Peer returns to the transport. */
export interface Receiver {
  /** One whole message. */
  receive(text: string): void;
  /** The server is about to end this connection: whoever can be told to come back is told. */
  draining(): void;
  /** Resolves once everything that was asked so far has been answered. */
  idle(): Promise<void>;
  /** The connection has ended, for whatever reason. Called exactly once. */
  closed(): void;
}

/** Who is on the other side, as admission found out, and how to talk to them. */
export type OpenPeer = (transport: Transport, principal: Principal) => Receiver;
