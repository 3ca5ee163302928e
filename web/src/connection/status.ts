/** What the page says of its connection, in words, and when: pure, so that a test can read it. It never claims more than is known. */
import type { RefusedReason } from '../../../src/client/close-codes.ts';
import type { ClientState } from '../../../src/client/connect.ts';

export interface Known {
  state: ClientState;
  /** The machine knows of a network. */
  hasNetwork: boolean;
}

export type Status =
  /** `connecting`: for the first time, and not for long yet. */
  | { kind: 'live' | 'catching_up' | 'connecting' | 'reconnecting' | 'offline' }
  | { kind: 'refused'; reason: RefusedReason };

export function statusOf({ state, hasNetwork }: Known): Status {
  return state.kind === 'reconnecting' && !hasNetwork ? { kind: 'offline' } : state;
}

/** How long a state must last before it is shown: what is over at once alarms nobody. */
export function patienceMs({ kind }: Status, shown: Status): number {
  switch (kind) {
    case 'live':
    case 'refused':
      return 0;
    case 'catching_up':
      return shown.kind === 'live' ? 1_200 : 300;
    case 'connecting':
    case 'reconnecting':
    case 'offline':
      return shown.kind === 'connecting' ? 2_500 : 600;
  }
}

export const STATUS_TEXTS: Record<Status['kind'], string> = {
  live: 'Live',
  catching_up: 'Catching up',
  connecting: 'Connecting',
  reconnecting: 'Reconnecting',
  offline: 'Offline',
  refused: 'Refused',
};

/** What is the matter, and what of it is safe. */
export function explanation(status: Status, lastStatus: number | undefined): string {
  switch (status.kind) {
    case 'live':
      return 'Everything the server has is here.';
    case 'catching_up':
      return 'What came meanwhile is being read.';
    case 'connecting':
    case 'reconnecting':
      return reconnecting(lastStatus);
    case 'offline':
      return 'This device has no network. Nothing is lost.';
    case 'refused':
      return REFUSALS[status.reason];
  }
}

const REFUSALS: Record<RefusedReason, string> = {
  credential: 'The server does not accept this browser any more: sign in again.',
  forbidden: 'The server does not let this page in: it is not on its list of hosts and origins.',
  protocol: 'The server and this page do not understand each other: one of them is older. Reload the page.',
};

function reconnecting(lastStatus: number | undefined): string {
  if (lastStatus === 426)
    return 'The server answers, but no connection opens: a proxy in between may not let WebSockets through.';
  if (lastStatus === 429) return 'The server has too many connections. Trying again in a few seconds.';
  if (lastStatus !== undefined && lastStatus >= 500)
    return `What stands in front of the server answers ${lastStatus}. Nothing is lost.`;
  return 'The server does not answer. Nothing is lost.';
}

/** 7 s, 3 min, 2 h. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3_600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3_600)} h`;
}

export function caughtUp(count: number): string {
  if (count === 0) return 'nothing missed';
  return count === 1 ? '1 update caught up' : `${count.toLocaleString('en')} updates caught up`;
}
