/** Stops the Turn that runs, and says how long it has been seen running. It stays usable while the Turn is stopping: a cancel can be lost. */
import { Square } from 'lucide-react';
import { connection } from '../server/client.ts';
import type { OpenSession } from '../state/open-session.ts';
import { useStore } from '../state/store.ts';
import { useNow } from '../tools/clock.ts';
import { announce } from '../ui/announce.ts';
import { Button } from '../ui/button.tsx';
import { clockText } from './format.ts';
import { runningSince } from './turn-clock.ts';

export function StopButton({ session }: { session: OpenSession }) {
  const since = useStore(runningSince(session));
  const stopping = useStore(session.view, (view) => view.stopping);
  const isConnected = useStore(connection, ({ kind }) => kind === 'live' || kind === 'catching_up');
  if (since === undefined) return null;
  return (
    <>
      <Elapsed since={since} />
      <Button
        className="stop"
        title={isConnected ? 'Stop (Escape twice)' : 'There is no connection: it cannot be stopped from here now'}
        disabled={!isConnected}
        onClick={() => stop(session)}
      >
        {stopping ? <span className="spinner" aria-hidden /> : <Square size={12} fill="currentColor" aria-hidden />}
        <span className="stop-word">{stopping ? 'Stopping…' : 'Stop'}</span>
      </Button>
    </>
  );
}

export function stop(session: OpenSession): void {
  if (!session.view.get().stopping) announce('Stopping');
  session.stop();
}

function Elapsed({ since }: { since: number }) {
  return (
    <span role="timer" className="stop-elapsed" title="Seen running for">
      {clockText(useNow() - since)}
    </span>
  );
}
