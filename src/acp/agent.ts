/** What every connection shares: the runtime, how the agent introduces itself, and what one connection may use. */
import type { AuthMethod } from '@agentclientprotocol/sdk';
import type { Runtime } from '../core/runtime.ts';

export interface ConnectionLimits {
  /** Requests of the client that are not answered yet. */
  requestsInFlight: number;
  attachedSessions: number;
  /** How long the client may take to `initialize`. Null: as long as it likes, as an editor may that starts us early. */
  initializeTimeoutMs: number | null;
}

export interface Agent {
  runtime: Runtime;
  name: string;
  version: string;
  /** How a person logs in at the model server, in a terminal that the client opens. */
  authMethods: Extract<AuthMethod, { type: 'terminal' }>[];
  limits: ConnectionLimits;
  /** Hears of faults that a client is told only as "internal error". */
  onError(error: unknown): void;
}
