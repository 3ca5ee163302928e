/**
 * Finds out at once, where the client would need most of a minute, whether the connection has survived a sleep or a frozen
 * tab. It only ends connections that do not answer; coming back is the client's own work.
 */
import type { Client } from '../server/client.ts';
import { connection } from '../server/client.ts';
import { cut, wireNow } from '../server/wire-tap.ts';

/** A page that was away for less has missed nothing that a watchdog would not see. */
const AWAY_MS = 20_000;
const ANSWER_WITHIN_MS = 5_000;

export function startWake(client: Client): void {
  let hiddenAt: number | undefined;

  const woke = () => {
    const awayMs = hiddenAt === undefined ? Number.POSITIVE_INFINITY : Date.now() - hiddenAt;
    hiddenAt = undefined;
    const { kind } = connection.get();
    if (kind === 'live' || kind === 'catching_up') {
      if (awayMs > AWAY_MS) probe(client);
    } else if (kind !== 'refused') client.retry();
  };

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) hiddenAt ??= Date.now();
    else woke();
  });
  // A page of the back-forward cache, and one that the browser had frozen.
  addEventListener('pageshow', ({ persisted }) => persisted && woke());
  document.addEventListener('resume', woke);
  addEventListener('online', woke);
  addEventListener('offline', () => connection.get().kind === 'live' && probe(client));
}

/** Asks something small; any frame is an answer. */
function probe(client: Client): void {
  const { connections, received } = wireNow();
  client.request('_pixir/sessions/watch', {}).catch(() => undefined);
  setTimeout(() => {
    const now = wireNow();
    if (now.connections === connections && now.received === received) cut();
  }, ANSWER_WITHIN_MS);
}
