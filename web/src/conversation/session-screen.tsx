/** One Session on the screen: its header, the conversation and the composer, or its Log; and the panel beside them. */
import { lazy, Suspense, useMemo } from 'react';
import { Composer } from '../composer/composer.tsx';
import { usePage } from '../page.tsx';
import { SessionHeader } from '../sessions/session-header.tsx';
import { linkTo, type Route } from '../state/route.ts';
import { shell } from '../state/shell.ts';
import { useStore } from '../state/store.ts';
import { Approvals } from '../tools/approvals.tsx';
import { PlanPanel } from '../tools/plan-panel.tsx';
import { names } from '../ui/button.tsx';
import { Conversation } from './conversation.tsx';

const Timeline = lazy(() => import('../timeline/timeline.tsx').then(({ Timeline }) => ({ default: Timeline })));
const WirePanel = lazy(() => import('../connection/wire-panel.tsx').then(({ WirePanel }) => ({ default: WirePanel })));

export function SessionScreen({ sessionId, view }: Extract<Route, { page: 'session' }>) {
  const { shown } = usePage();
  const session = useMemo(() => shown.session(sessionId), [shown, sessionId]);
  const { panel } = useStore(shell);
  const isGone = useStore(session.view, ({ status }) => status === 'gone');

  return (
    <main className={names('main', panel !== 'none' && 'with-panel')}>
      <SessionHeader session={session} view={view} />
      <div className="main-body">
        {isGone && <Gone />}
        {!isGone && view === 'log' && (
          <Suspense>
            <Timeline sessionId={sessionId} />
          </Suspense>
        )}
        {!isGone && view === 'conversation' && (
          <>
            <Conversation session={session} />
            <Approvals session={session} />
            <Composer session={session} />
          </>
        )}
      </div>
      {panel === 'plan' && <PlanPanel session={session} />}
      {panel === 'wire' && (
        <Suspense>
          <WirePanel />
        </Suspense>
      )}
    </main>
  );
}

function Gone() {
  return (
    <div className="notice-page" role="status">
      <h2>There is no such Session</h2>
      <p>It was deleted, or it belongs to somebody else.</p>
      <a href={linkTo({ page: 'home' })}>Back to the beginning</a>
    </div>
  );
}
