/** The conversation of a Session, from its end: what was said and done, and what is happening. It changes nothing of it. */
import { lazy, Suspense, useEffect } from 'react';
import type { OpenSession } from '../state/open-session.ts';
import { useStore } from '../state/store.ts';
import { Button } from '../ui/button.tsx';
import './conversation.css';

/** Markdown, the virtual list and the tool cards: they load while the Session is being opened. */
const load = () =>
  import('./conversation-list.tsx').then(
    ({ ConversationList }) => ({ default: ConversationList }),
    () => ({ default: NotLoaded }),
  );
const ConversationList = lazy(load);

export function Conversation({ session }: { session: OpenSession }) {
  const state = useStore(session.view, ({ items, status, hasOlder }) => {
    if (items.length > 0) return 'there';
    return status === 'opening' || hasOlder ? 'reading' : 'empty';
  });
  useEffect(() => void load(), []);
  return (
    <section className="conversation" aria-label="Conversation" aria-busy={state === 'reading'}>
      <h2 className="visually-hidden">Conversation</h2>
      {state === 'there' && (
        <Suspense fallback={<Skeleton />}>
          <ConversationList session={session} />
        </Suspense>
      )}
      {state === 'reading' && <Skeleton />}
      {state === 'empty' && <Empty session={session} />}
    </section>
  );
}

function Skeleton() {
  return (
    <div className="skeleton">
      <p className="visually-hidden" role="status">
        Opening the conversation…
      </p>
      <div className="skeleton-prompt" />
      <div className="skeleton-line" />
      <div className="skeleton-line" />
      <div className="skeleton-line short" />
      <div className="skeleton-prompt" />
      <div className="skeleton-line" />
      <div className="skeleton-line short" />
    </div>
  );
}

function Empty({ session }: { session: OpenSession }) {
  const cwd = useStore(session.view, (view) => view.cwd);
  return (
    <div className="conversation-empty">
      <p className="conversation-empty-title">Nothing has been said yet</p>
      {cwd !== undefined && (
        <p>
          The agent works in <code>{cwd}</code>.
        </p>
      )}
      <p>Write what should be done. Everything that happens is recorded before you see it.</p>
    </div>
  );
}

/** The server has another version of the page by now, or cannot be reached. */
function NotLoaded() {
  return (
    <div className="conversation-empty" role="alert">
      <p className="conversation-empty-title">A part of this page could not be loaded</p>
      <p>Nothing of the Session is lost.</p>
      <Button onClick={() => location.reload()}>Reload the page</Button>
    </div>
  );
}
