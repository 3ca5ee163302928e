/** The dialogs about one Session: a new name for it, or its end. Deleting says first what is lost. */
import { type FormEvent, useRef, useState } from 'react';
import { usePage } from '../page.tsx';
import { goTo, route } from '../state/route.ts';
import { sessions } from '../state/sessions.ts';
import { useStore } from '../state/store.ts';
import { announce } from '../ui/announce.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { asked, problemOf, type Subject } from './actions.ts';
import './session-dialogs.css';

export function SessionDialogs() {
  const what = useStore(asked);
  if (!what) return null;
  return what.kind === 'rename' ? <Rename {...what.subject} /> : <Delete {...what.subject} />;
}

const FORM = 'rename-session';
const LONGEST = 200;

function close(): void {
  asked.set(undefined);
}

function Rename({ sessionId, title }: Subject) {
  const { client } = usePage();
  const { busy, problem, run } = useAttempt();

  async function rename(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const wanted = String(new FormData(event.currentTarget).get('title')).trim();
    if (wanted === '' || wanted === title) return close();
    await run(() => client.request('session/set_title', { sessionId, title: wanted }));
  }

  return (
    <Dialog
      title="Rename Session"
      onClose={close}
      className="session-dialog"
      foot={<Actions label="Rename" busy={busy} form={FORM} />}
    >
      <form id={FORM} onSubmit={(event) => void rename(event)}>
        <label className="field">
          <span className="field-label">Title</span>
          <input ref={takeFocus} name="title" className="input" defaultValue={title} maxLength={LONGEST} required />
        </label>
        <Problem text={problem} />
      </form>
    </Dialog>
  );
}

function Delete({ sessionId, title, cwd }: Subject) {
  const { client, shown } = usePage();
  const { busy, problem, run } = useAttempt();
  const status = useStore(
    sessions,
    ({ sessions: all }) => all.find((session) => session.sessionId === sessionId)?._meta.pixir,
  );

  async function remove(): Promise<void> {
    await run(async () => {
      await client.request('session/delete', { sessionId });
      const where = route.get();
      if (where.page === 'session' && where.sessionId === sessionId) goTo({ page: 'home' });
      shown.drop(sessionId);
      announce('Session deleted');
    });
  }

  return (
    <Dialog
      title="Delete this Session?"
      onClose={close}
      className="session-dialog"
      foot={<Actions label="Delete Session" busy={busy} danger onClick={() => void remove()} />}
    >
      <p className="session-dialog-title">{title}</p>
      <p>
        Its conversation and its whole Log{status && ` (${eventCount(status.seq)})`} are removed from the server, for
        everybody and for good.{status?.state === 'running' && ' What it is doing now is stopped.'} Files in{' '}
        <code>{cwd}</code> stay as they are.
      </p>
      <Problem text={problem} />
    </Dialog>
  );
}

function eventCount(seq: number): string {
  return seq === 1 ? '1 Event' : `${seq.toLocaleString()} Events`;
}

interface ActionsProps {
  label: string;
  busy: boolean;
  danger?: boolean;
  form?: string;
  onClick?: () => void;
}

function Actions({ label, busy, danger, form, onClick }: ActionsProps) {
  return (
    <>
      <Button onClick={close}>Cancel</Button>
      <Button
        look={danger ? undefined : 'primary'}
        className={danger ? 'session-delete' : undefined}
        type={form ? 'submit' : 'button'}
        form={form}
        onClick={onClick}
        disabled={busy}
      >
        {label}
      </Button>
    </>
  );
}

function Problem({ text }: { text: string | undefined }) {
  return text === undefined ? null : (
    <p className="session-dialog-problem" role="alert">
      {text}
    </p>
  );
}

/** Runs what the dialog is for, once at a time; closes it when that has succeeded. */
function useAttempt() {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const isRunning = useRef(false);

  async function run(work: () => Promise<unknown>): Promise<void> {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
      close();
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  }
  return { busy, problem, run };
}

/** The dialog puts the focus there when it opens. */
export function takeFocus(element: HTMLInputElement | null): void {
  element?.setAttribute('autofocus', '');
  element?.select();
}
