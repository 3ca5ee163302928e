/**
 * The questions that wait for this person, one at a time and in their order. It never takes the focus from somebody who
 * types, never answers by itself, and nothing that allows is ever chosen in advance.
 */
import { useEffect, useRef, useState } from 'react';
import type { OpenSession } from '../state/open-session.ts';
import type { SessionView } from '../state/session-view.ts';
import { useStore } from '../state/store.ts';
import { announce } from '../ui/announce.ts';
import { ApprovalCard } from './approval-card.tsx';
import { leftBecause } from './approval-words.ts';
import './approvals.css';

export function Approvals({ session }: { session: OpenSession }) {
  const permissions = useStore(session.view, (view) => view.permissions);
  const [chosen, setChosen] = useState<string>();
  const hadFocus = useRef(false);
  const index = Math.max(
    0,
    permissions.findIndex(({ permissionId }) => permissionId === chosen),
  );
  const current = permissions[index];
  const go = (step: number) => setChosen(permissions[index + step]?.permissionId);

  useEffect(() => {
    // The last one was answered from its card: the person goes on where they write.
    if (current || !hadFocus.current) return;
    hadFocus.current = false;
    // Where there is a keyboard: a finger would only make one come up.
    if (matchMedia('(pointer: fine)').matches) document.getElementById('prompt')?.focus();
  }, [current]);

  return (
    <div className="approvals">
      <LeftNote session={session} />
      {current && (
        <ApprovalCard
          key={current.permissionId}
          session={session}
          permission={current}
          place={{ index, count: permissions.length, go }}
          takesFocus={hadFocus}
        />
      )}
    </div>
  );
}

const NOTE_MS = 6_000;
/** A server that asks again withdraws first: only then it is known that the question has gone. */
const SETTLING_MS = 300;

/** Says for some seconds that a question left without an answer from here. */
function LeftNote({ session: { view } }: { session: OpenSession }) {
  const decided = useStore(view, ({ decidedElsewhere }) => decidedElsewhere);
  const [note, setNote] = useState<{ text: string }>();
  const known = useRef(new Set(decided));
  const asked = useRef<Asked>(new Map());

  useEffect(() => rememberAsked(view, asked.current), [view]);
  useEffect(() => {
    const left = [...decided].findLast((id) => !known.current.has(id));
    known.current = new Set(decided);
    if (left === undefined) return;
    const { expiresAt, turnEnds = false } = asked.current.get(left) ?? {};
    const why = { expiresAt, turnEnds: turnEnds || isEnding(view.get()) };
    const timer = setTimeout(() => {
      const waits = view.get().permissions.some(({ permissionId }) => permissionId === left);
      if (waits) known.current.delete(left);
      else setNote({ text: leftBecause(why, Date.now()) });
    }, SETTLING_MS);
    return () => clearTimeout(timer);
  }, [decided, view]);
  useEffect(() => {
    if (!note) return;
    announce(note.text);
    const timer = setTimeout(() => setNote(undefined), NOTE_MS);
    return () => clearTimeout(timer);
  }, [note]);

  return note && <p className="approval-left">{note.text}</p>;
}

type Asked = Map<string, { expiresAt: number | undefined; turnEnds: boolean }>;

/** A question is gone from the view when it is heard that it left: what was known of it is kept here. */
function rememberAsked(view: OpenSession['view'], asked: Asked): () => void {
  const remember = () => {
    const now = view.get();
    for (const { permissionId, expiresAt } of now.permissions)
      asked.set(permissionId, { expiresAt, turnEnds: isEnding(now) });
  };
  remember();
  return view.subscribe(remember);
}

function isEnding({ running, stopping }: SessionView): boolean {
  return stopping || !running;
}
