/** The last line: that something is being done, while nothing else shows it. Its place is always there, so nothing jumps. */
import { useEffect, useState } from 'react';
import type { Item } from '../state/items.ts';
import type { OpenSession } from '../state/open-session.ts';
import type { SessionView } from '../state/session-view.ts';
import { useStore } from '../state/store.ts';
import { announce } from '../ui/announce.ts';

const WORDS = { idle: '', waiting: 'Waiting for your decision', stopping: 'Stopping…', working: 'Working…' };

/** Text that has not grown for so long is not being written at the moment. */
const PAUSE_MS = 1_200;

export function Working({ session }: { session: OpenSession }) {
  const state = useStore(session.view, stateOf);
  const last = useStore(session.view, ({ items }) => items.at(-1));
  const isShownElsewhere = useShown(last);
  useEndSaid(session, state !== 'idle');
  const isSeen = state !== 'idle' && (state !== 'working' || !isShownElsewhere);
  return (
    <div className="working" data-state={state}>
      {isSeen && (
        <>
          <span className="working-mark" aria-hidden />
          {WORDS[state]}
        </>
      )}
    </div>
  );
}

function stateOf({ running, stopping, permissions }: SessionView): keyof typeof WORDS {
  if (!running) return 'idle';
  if (stopping) return 'stopping';
  return permissions.length > 0 ? 'waiting' : 'working';
}

/** Its own row shows that it goes on: text that grows, a tool that runs, a prompt that is being sent. */
function useShown(last: Item | undefined): boolean {
  const [isPaused, setPaused] = useState(true);
  useEffect(() => {
    if (last?.type !== 'message' && last?.type !== 'thought') return setPaused(true);
    setPaused(false);
    const timer = setTimeout(() => setPaused(true), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [last]);
  if (last?.type === 'tool') return last.call.status === 'in_progress' || last.call.status === 'pending';
  if (last?.type === 'user') return last.pending === true;
  return !isPaused;
}

/** Who cannot see that it has ended hears it, and how the answer begins. */
function useEndSaid(session: OpenSession, running: boolean): void {
  const [was, setWas] = useState(running);
  useEffect(() => {
    if (was === running) return;
    setWas(running);
    if (running) return;
    const last = session.view.get().items.at(-1);
    if (last?.type !== 'message') return announce('Finished.');
    announce(`${last.id.startsWith('end_') ? 'The Turn failed.' : 'Finished.'} ${last.text.slice(0, SAID)}`);
  }, [was, running, session]);
}

const SAID = 200;
