/** The page before a Session is chosen: what needs a person first, and on a server without Sessions how to begin. */
import { useRef, useState } from 'react';
import type { ListedSession } from '../../../src/client/connect.ts';
import { usePage } from '../page.tsx';
import { connection } from '../server/client.ts';
import { goTo, linkTo } from '../state/route.ts';
import { type Attention, attentionOf, readMarks, sessions } from '../state/sessions.ts';
import { show } from '../state/shell.ts';
import { useStore } from '../state/store.ts';
import { Button } from '../ui/button.tsx';
import { problemOf } from './actions.ts';
import { carefulChoice, createSession, offeredOptions } from './create.ts';
import { folderNames } from './list.ts';
import { lastFolder, ordered } from './list-state.ts';
import { DrawerButton } from './session-header.tsx';
import { Ago, nameOf } from './session-row.tsx';
import { StatusMark } from './status-mark.tsx';
import './welcome.css';

export function Welcome() {
  const loading = useStore(sessions, (view) => view.loading);
  const all = useStore(ordered);
  return (
    <main className="main welcome">
      <header className="main-header welcome-bar">
        <DrawerButton />
      </header>
      <div className="welcome-body">
        <div className="welcome-column">
          <img src="./assets/icon.svg" alt="" width={44} height={44} />
          <h1>Pixir</h1>
          <p className="welcome-line">An agent that never loses its place: everything is recorded before you see it.</p>
          {!loading && all.length === 0 && <FirstRun />}
          {all.length > 0 && <Sessions all={all} />}
        </div>
      </div>
    </main>
  );
}

function Sessions({ all }: { all: readonly ListedSession[] }) {
  const marks = useStore(readMarks);
  const byAttention = Map.groupBy(all, (session) => attentionOf(session, marks));
  const folders = folderNames(all.map(({ cwd }) => cwd));
  const recent = [...(byAttention.get('unread') ?? []), ...(byAttention.get('idle') ?? [])].slice(0, RECENT);
  const parts = [
    { name: 'Needs you', attention: 'needs_you', inside: byAttention.get('needs_you') ?? [] },
    { name: 'Running', attention: 'running', inside: byAttention.get('running') ?? [] },
    { name: 'Failed', attention: 'failed', inside: byAttention.get('failed') ?? [] },
    { name: 'Recent', attention: undefined, inside: recent },
  ] as const;
  return (
    <>
      <Button look="primary" onClick={() => show({ dialog: 'new' })}>
        New Session
      </Button>
      {parts
        .filter(({ inside }) => inside.length > 0)
        .map(({ name, attention, inside }) => (
          <section key={name} className="welcome-part">
            <h2>{name}</h2>
            <ul>
              {inside.slice(0, MOST).map((session) => (
                <Line
                  key={session.sessionId}
                  session={session}
                  folder={folders.get(session.cwd) ?? session.cwd}
                  attention={attention ?? attentionOf(session, marks)}
                />
              ))}
            </ul>
          </section>
        ))}
    </>
  );
}

const RECENT = 6;
const MOST = 8;

function Line({ session, folder, attention }: { session: ListedSession; folder: string; attention: Attention }) {
  const { sessionId, cwd, updatedAt } = session;
  return (
    <li>
      <a href={linkTo({ page: 'session', sessionId, view: 'conversation' })}>
        <StatusMark attention={attention} />
        <span className="welcome-title">{nameOf(session)}</span>
        <span className="welcome-folder" title={cwd}>
          {folder}
        </span>
        <Ago iso={updatedAt ?? ''} />
      </a>
    </li>
  );
}

function FirstRun() {
  const { busy, problem, start } = useFirstSession();
  const isConnected = useStore(connection, ({ kind }) => kind === 'live' || kind === 'catching_up');
  return (
    <>
      <p className="welcome-line">
        Begin with a Session in the server’s first folder. It asks before it changes a file or runs a command.
      </p>
      <div className="welcome-buttons">
        <Button look="primary" disabled={busy || !isConnected} onClick={() => void start()}>
          {busy ? 'Starting…' : 'Start the first Session'}
        </Button>
        <Button onClick={() => show({ dialog: 'new' })}>Choose a folder…</Button>
      </div>
      {problem && (
        <p className="welcome-problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

/** One, however often the button is pressed. */
function useFirstSession() {
  const { client } = usePage();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const isRunning = useRef(false);

  async function start(): Promise<void> {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setProblem(undefined);
    try {
      const { directories } = await client.request('_pixir/directories', {});
      const [root] = directories;
      if (!root) throw new Error('The server offers no folder.');
      const sessionId = await createSession(client, root.path, carefulChoice(offeredOptions(client)));
      lastFolder.set(root.path);
      goTo({ page: 'session', sessionId, view: 'conversation' });
    } catch (error) {
      setProblem(`No Session could be started. ${problemOf(error)}`);
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  }
  return { busy, problem, start };
}
