/** What a client does when its connection ends: the table of docs/reconnect.md as code. */

/** What the server, or the network, meant. */
export type Advice =
  /** Come back, later each time it fails. The cursor is valid. */
  | { kind: 'retry'; atLeastMs: number }
  /** Coming back would change nothing until a person does. */
  | { kind: 'stop'; reason: RefusedReason };

export type RefusedReason =
  /** The credential is missing, expired or revoked. */
  | 'credential'
  /** This origin, host or scope may not. */
  | 'forbidden'
  /** The server did not understand us, or is no Pixir. */
  | 'protocol';

const STOPS: Record<number, RefusedReason | undefined> = { 4400: 'protocol', 4401: 'credential', 4403: 'forbidden' };
const RATE_LIMITED = 4429;
const RATE_LIMITED_MS = 5_000;

/** @param code a WebSocket close code; 1006 when the network just ended it. */
export function adviceOn(code: number): Advice {
  const reason = STOPS[code];
  if (reason) return { kind: 'stop', reason };
  // 1001, 1006, 1012, 4408, 4500 and whatever comes later: the cursor is valid.
  return { kind: 'retry', atLeastMs: code === RATE_LIMITED ? RATE_LIMITED_MS : 0 };
}

/** @param status of a plain request, where the WebSocket did not even open. The codes were named after these. */
export function adviceOnStatus(status: number): Advice {
  return adviceOn(4_000 + status);
}

const FIRST_MS = 250;
const LONGEST_MS = 30_000;

/** Full jitter: anywhere between nothing and a bound that doubles, so that many clients do not come back as one. */
export function backoff(attempt: number, random: () => number): number {
  return random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt);
}
