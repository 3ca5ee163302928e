/** What is known of a Session's check chain, and how that is said. It never says more than what the server has found. */
import type { LogVerdict } from '../../../src/client/connect.ts';

export type Chain =
  | { kind: 'unverified' }
  | { kind: 'verifying' }
  | { kind: 'intact'; events: number; chk: string }
  | { kind: 'broken'; seq: number; reason: string }
  /** It could not be found out. */
  | { kind: 'failed'; message: string };

export function chainOf(verdict: LogVerdict): Chain {
  if (verdict.ok) return { kind: 'intact', events: verdict.events, chk: verdict.chk };
  return { kind: 'broken', ...verdict.firstBad };
}

/** @param total how many Events there are now. */
export function chainText(chain: Chain, total: number): string {
  switch (chain.kind) {
    case 'unverified':
      return `${counted(total)}, not verified yet`;
    case 'verifying':
      return `Verifying ${counted(total)}…`;
    case 'intact':
      return `${counted(chain.events)}, chain intact, head ${chain.chk}${sinceThen(total - chain.events)}`;
    case 'broken':
      return `The chain breaks at Event ${chain.seq}: ${chain.reason}`;
    case 'failed':
      return `Not verified: ${chain.message}`;
  }
}

function sinceThen(more: number): string {
  return more > 0 ? `; ${more.toLocaleString('en')} more since` : '';
}

export function counted(events: number): string {
  return `${events.toLocaleString('en')} ${events === 1 ? 'Event' : 'Events'}`;
}
