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

const RATE_LIMITED_MS = 5_000;

/** @param code a WebSocket close code; 1006 when the network just ended it. */
export function adviceOn(code: number): Advice {
  switch (code) {
    case 4400:
      return { kind: 'stop', reason: 'protocol' };
    case 4401:
      return { kind: 'stop', reason: 'credential' };
    case 4403:
      return { kind: 'stop', reason: 'forbidden' };
    case 4429:
      return { kind: 'retry', atLeastMs: RATE_LIMITED_MS };
    default:
      // 1001, 1006, 1012, 4408, 4500 and whatever comes later: the cursor is valid.
      return { kind: 'retry', atLeastMs: 0 };
  }
}

/** @param status of a plain request, where the WebSocket did not even open. */
export function adviceOnStatus(status: number): Advice {
  if (status === 401) return { kind: 'stop', reason: 'credential' };
  if (status === 403) return { kind: 'stop', reason: 'forbidden' };
  return { kind: 'retry', atLeastMs: status === 429 ? RATE_LIMITED_MS : 0 };
}

const FIRST_MS = 250;
const LONGEST_MS = 30_000;

/** Full jitter: anywhere between nothing and a bound that doubles, so that many clients do not come back as one. */
export function backoff(attempt: number, random: () => number): number {
  return random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt);
}
