/** The connection as it is shown: a state that is over at once is not shown at all. What the client does is not touched. */
import { account } from '../server/account.ts';
import { connection } from '../server/client.ts';
import { isElsewhere } from '../server/home.ts';
import { wireNow } from '../server/wire-tap.ts';
import { createStore } from '../state/store.ts';
import { announce } from '../ui/announce.ts';
import { caughtUp, explanation, patienceMs, STATUS_TEXTS, type Status, statusOf } from './status.ts';

export interface Steady {
  status: Status;
  /** Since when it is not live any more, in milliseconds since 1970. */
  lostAt: number | undefined;
  /** It has just come back: with so many updates. */
  cameBackWith: number | undefined;
}

const CAME_BACK_MS = 8_000;

export const steady = createStore<Steady>({
  status: { kind: 'connecting' },
  lostAt: undefined,
  cameBackWith: undefined,
});

let timer: ReturnType<typeof setTimeout> | undefined;
let calm: ReturnType<typeof setTimeout> | undefined;
let waitingFor: Status['kind'] | undefined;
let lostAt: number | undefined;

connection.subscribe(look);
addEventListener('online', look);
addEventListener('offline', look);
look();

function look(): void {
  // There the connection waits for a token, and nothing is tried.
  if (isElsewhere && account.get().kind === 'out' && connection.get().kind === 'reconnecting') return;
  const next = statusOf({ state: connection.get(), hasNetwork: navigator.onLine });
  if (next.kind === 'live') lostAt = undefined;
  else if (next.kind !== 'catching_up') lostAt ??= Date.now();
  if (next.kind === waitingFor) return;
  clearTimeout(timer);
  waitingFor = undefined;

  const shown = steady.get().status;
  if (next.kind === shown.kind && next.kind !== 'refused') return;
  const patience = patienceMs(next, shown);
  if (patience === 0) {
    become(next);
    return;
  }
  waitingFor = next.kind;
  timer = setTimeout(() => {
    waitingFor = undefined;
    become(next);
  }, patience);
}

function become(status: Status): void {
  clearTimeout(calm);
  // Where a loss was shown, that it is over is shown too.
  const isBack = status.kind === 'live' && steady.get().lostAt !== undefined && wireNow().connections > 1;
  const cameBackWith = isBack ? wireNow().sinceOpen : undefined;
  steady.set({ status, lostAt, cameBackWith });
  if (cameBackWith !== undefined) {
    announce(`Connected again, ${caughtUp(cameBackWith)}.`);
    calm = setTimeout(() => steady.set({ ...steady.get(), cameBackWith: undefined }), CAME_BACK_MS);
  } else if (isAlarm(status)) {
    announce(`${STATUS_TEXTS[status.kind]}. ${explanation(status, undefined)}`);
  }
}

/** What a person should know of; where the credential is refused, the whole page says so. */
export function isAlarm(status: Status): boolean {
  if (status.kind === 'refused') return status.reason !== 'credential';
  return status.kind === 'reconnecting' || status.kind === 'offline';
}
