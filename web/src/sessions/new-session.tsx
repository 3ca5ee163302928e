/** Begins a Session: where, and how much it may do. It asks before anything but reading unless the person says otherwise. */
import { TriangleAlert } from 'lucide-react';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { usePage } from '../page.tsx';
import { connection } from '../server/client.ts';
import { goTo } from '../state/route.ts';
import { useStore } from '../state/store.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { problemOf } from './actions.ts';
import { carefulChoice, createSession, offeredOptions, type Wanted } from './create.ts';
import { FolderPicker } from './folder-picker.tsx';
import { folderOf } from './folders.ts';
import { lastFolder, ordered } from './list-state.ts';
import { OptionFields } from './option-fields.tsx';
import './new-session.css';

export function NewSession({ onClose }: { onClose(): void }) {
  const { client } = usePage();
  const [folder, setFolder] = useState(() => lastFolder.get() || (ordered.get()[0]?.cwd ?? ''));
  const [chosen, setChosen] = useState<Wanted>({});
  const { isConnected, busy, problem, create, refuse } = useCreate(onClose);
  const ids = { form: useId(), problem: useId() };
  const options = offeredOptions(client);
  const wanted = { ...carefulChoice(options), ...chosen };

  function choose(path: string): void {
    setFolder(path);
    refuse(undefined);
  }

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (folderOf(folder) === '') refuse('Choose a folder first: the agent works in it.');
    else void create(folderOf(folder), wanted);
  }

  return (
    <Dialog
      title="New Session"
      onClose={onClose}
      className="new-session"
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={ids.form} disabled={busy || !isConnected}>
            {busy ? 'Creating…' : 'Create'}
          </Button>
        </>
      }
    >
      <form id={ids.form} className="new-session-form" noValidate onSubmit={submit}>
        <FolderPicker value={folder} onChange={choose} problemId={problem && ids.problem} />
        <OptionFields
          options={options}
          wanted={wanted}
          onChoose={(id, value) => setChosen((before) => ({ ...before, [id]: value }))}
        />
        {wanted.permission_mode === 'auto' && (
          <p className="new-session-careful">
            <TriangleAlert size={15} aria-hidden />
            Changes files and runs commands without asking you first.
          </p>
        )}
        {problem && (
          <p id={ids.problem} className="new-session-problem" role="alert">
            {problem}
          </p>
        )}
        {!isConnected && <p className="new-session-problem">Not connected to the server.</p>}
      </form>
    </Dialog>
  );
}

/** However often it is submitted, it makes one Session. */
function useCreate(onCreated: () => void) {
  const { client } = usePage();
  const isConnected = useStore(connection, ({ kind }) => kind === 'live' || kind === 'catching_up');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const isRunning = useRef(false);
  const isClosed = useRef(false);
  useEffect(() => {
    isClosed.current = false;
    return () => {
      isClosed.current = true;
    };
  }, []);

  async function create(cwd: string, wanted: Wanted): Promise<void> {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setProblem(undefined);
    try {
      const sessionId = await createSession(client, cwd, wanted);
      lastFolder.set(cwd);
      // Nobody waits for it any more: it is in the list.
      if (isClosed.current) return;
      onCreated();
      goTo({ page: 'session', sessionId, view: 'conversation' });
    } catch (error) {
      setProblem(`The Session could not be made. ${problemOf(error)}`);
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  }
  return { isConnected, busy, problem, create, refuse: setProblem };
}
