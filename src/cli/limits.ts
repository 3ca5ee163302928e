/**
 * What the server lets anybody use at most, in one table: each can be set like any other setting, and whoever reaches one
 * is told which (`data.reason: "limit_exceeded"`, HTTP 429, or a close code). Zero is no way to switch a limit off.
 */
export const LIMITS = {
  /** Connected clients, in all and of one owner. */
  maxConnections: 4_000,
  maxConnectionsPerOwner: 2_000,
  /** Wrong attempts of one address within a minute, to sign in and with any request: further ones are 429, right ones pass. */
  maxSignInFailuresPerMinute: 10,
  maxWrongCredentialsPerMinute: 100,
  /** How long a client may take from its connection to `initialize`. */
  initializeTimeoutMs: 10_000,
  /** One message of a client. */
  maxFrameBytes: 16 * 1024 * 1024,
  /** Messages of one connection: what comes faster is read more slowly, and a client that never lets up is cut (4429). */
  maxMessagesPerSecond: 10_000,
  /** Requests of one connection that are not answered yet, waiting prompts included. */
  maxRequestsInFlight: 1_024,
  /** Sessions that one connection is attached to. */
  maxAttachedSessions: 10_000,
  /** Sessions that are kept, in all and of one owner. */
  maxSessions: 100_000,
  maxSessionsPerOwner: 20_000,
  /** Turns that run, in all and of one owner. */
  maxRunningTurns: 512,
  maxRunningTurnsPerOwner: 256,
  /** Room that new prompts leave on the data directory's file system, for what runs already. */
  minFreeDiskBytes: 128 * 1024 * 1024,
} as const;

export type Limits = Readonly<Record<keyof typeof LIMITS, number>>;
