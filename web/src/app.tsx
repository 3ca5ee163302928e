/** The frame of the page: sign in, or the list of Sessions beside the one that is shown. */
import { lazy, Suspense } from 'react';
import { ConnectionBanner } from './connection/indicator.tsx';
import { SignIn } from './connection/sign-in.tsx';
import { SessionScreen } from './conversation/session-screen.tsx';
import { account } from './server/account.ts';
import { useKeys } from './sessions/keys.ts';
import { Sidebar } from './sessions/sidebar.tsx';
import { Welcome } from './sessions/welcome.tsx';
import { linkTo, route } from './state/route.ts';
import { shell, show } from './state/shell.ts';
import { useStore } from './state/store.ts';
import { announcement } from './ui/announce.ts';
import { Boundary } from './ui/boundary.tsx';
import { names } from './ui/button.tsx';
import { Toasts } from './ui/toast.tsx';

const NewSession = lazy(() => import('./sessions/new-session.tsx').then(({ NewSession }) => ({ default: NewSession })));
const Settings = lazy(() => import('./connection/settings.tsx').then(({ Settings }) => ({ default: Settings })));
const Keys = lazy(() => import('./sessions/keys-dialog.tsx').then(({ KeysDialog }) => ({ default: KeysDialog })));

export function App() {
  const { kind } = useStore(account);
  return (
    <>
      {kind === 'in' ? <Workbench /> : <SignIn />}
      <Toasts />
      <div className="visually-hidden" aria-live="polite">
        {useStore(announcement)}
      </div>
    </>
  );
}

function Workbench() {
  useKeys();
  const where = useStore(route);
  const { drawer, dialog } = useStore(shell);
  const close = () => show({ dialog: 'none' });

  return (
    <div className={names('workbench', drawer && 'drawer-open')}>
      <Sidebar />
      {/* biome-ignore lint/a11y: the drawer closes with Escape too. */}
      <div className="drawer-shade" onClick={() => show({ drawer: false })} />
      <ConnectionBanner />
      <Boundary name={linkTo(where)}>
        {where.page === 'home' ? <Welcome /> : <SessionScreen key={where.sessionId} {...where} />}
      </Boundary>
      <Boundary name={dialog}>
        <Suspense>
          {dialog === 'new' && <NewSession onClose={close} />}
          {dialog === 'settings' && <Settings onClose={close} />}
          {dialog === 'keys' && <Keys onClose={close} />}
        </Suspense>
      </Boundary>
    </div>
  );
}
