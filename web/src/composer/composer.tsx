/** Where a person writes to a Session: the field, what goes along, what it may do, sending and stopping. It sends nothing twice. */
import { ArrowUp, X } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { usePage } from '../page.tsx';
import { connection } from '../server/client.ts';
import type { OpenSession } from '../state/open-session.ts';
import type { QueuedPrompt } from '../state/queue.ts';
import { prompted } from '../state/shell.ts';
import { useStore } from '../state/store.ts';
import { UsageMeter } from '../tools/usage-meter.tsx';
import { IconButton } from '../ui/button.tsx';
import { AttachButton, attach, DropZone, takenBy } from './attach.tsx';
import { AttachmentList, Mentions } from './attachment-list.tsx';
import './composer.css';
import { blocksOf, EMPTY_DRAFT, isEmpty, takenBack } from './draft.ts';
import { type DraftStore, draftOf } from './drafts.ts';
import { Pickers } from './pickers.tsx';
import { focusPrompt, PromptField, useFocusAtFirst } from './prompt-field.tsx';
import { newAttachmentId } from './read-file.ts';
import { StopButton, stop } from './stop-button.tsx';
import { Waiting } from './waiting.tsx';

export function Composer({ session }: { session: OpenSession }) {
  const { client } = usePage();
  const draft = draftOf(session.sessionId);
  const field = useRef<HTMLTextAreaElement>(null);
  const taken = takenBy(client);
  const [notes, setNotes] = useState<readonly string[]>([]);
  const { isReading, onFiles } = useReading(draft, setNotes);
  const { armed, onEscape } = useStopByEscape(session);
  useFocusAtFirst(session, field);

  function send(): void {
    const content = blocksOf(draft.get());
    if (content.length === 0 || isReading) return;
    // First emptied: whatever calls this again finds nothing to send.
    draft.set(EMPTY_DRAFT);
    setNotes([]);
    session.send(content);
    prompted.set(prompted.get() + 1);
    focusPrompt();
  }

  function edit(prompt: QueuedPrompt): void {
    draft.set(takenBack(draft.get(), prompt.content, newAttachmentId));
    field.current?.focus();
  }

  function submit(event: FormEvent): void {
    event.preventDefault();
    send();
  }

  return (
    <form className="composer" onSubmit={submit}>
      <DropZone taken={taken} onFiles={onFiles} />
      <Waiting session={session} onEdit={edit} />
      <div className="composer-box">
        <AttachmentList draft={draft} />
        <PromptField {...{ session, draft, field, onEscape, onFiles }} onSend={send} />
        <Mentions draft={draft} />
        <div className="composer-bar">
          <AttachButton taken={taken} onFiles={onFiles} />
          <Pickers session={session} onError={(message) => setNotes([message])} />
          <UsageMeter usage={useStore(session.view, (view) => view.usage)} />
          <StopButton session={session} />
          <SendButton session={session} draft={draft} isReading={isReading} />
        </div>
      </div>
      <Notes draft={draft} notes={armed ? [...notes, 'Escape again stops it'] : notes} onClose={() => setNotes([])} />
    </form>
  );
}

function useReading(draft: DraftStore, onRefused: (why: string[]) => void) {
  const { client } = usePage();
  const [reading, setReading] = useState(0);
  async function read(files: File[]): Promise<void> {
    setReading((count) => count + 1);
    onRefused(await attach(files, draft, takenBy(client)));
    setReading((count) => count - 1);
  }
  return { isReading: reading > 0, onFiles: (files: File[]) => void read(files) };
}

/** Once is too easily done by accident. */
function useStopByEscape(session: OpenSession): { armed: boolean; onEscape(): boolean } {
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    if (!armed) return;
    const timer = setTimeout(setArmed, ARMED_MS, false);
    return () => clearTimeout(timer);
  }, [armed]);
  return {
    armed,
    onEscape() {
      if (!session.view.get().running) return false;
      if (armed) stop(session);
      setArmed(!armed);
      return true;
    },
  };
}

const ARMED_MS = 2_000;

interface SendProps {
  session: OpenSession;
  draft: DraftStore;
  isReading: boolean;
}

function SendButton({ session, draft, isReading }: SendProps) {
  const nothing = useStore(draft, isEmpty);
  const running = useStore(session.view, (view) => view.running);
  const label = running ? 'Send when this Turn ends' : 'Send';
  return (
    <IconButton
      type="submit"
      icon={ArrowUp}
      label={isReading ? 'Reading files…' : label}
      look="primary"
      small
      className="send"
      disabled={nothing || isReading}
      // The focus stays in the field, and on a phone its keyboard.
      onMouseDown={(event) => event.preventDefault()}
    />
  );
}

interface NotesProps {
  draft: DraftStore;
  notes: readonly string[];
  onClose(): void;
}

/** What a person should know about what they are about to send. */
function Notes({ draft, notes, onClose }: NotesProps) {
  const lost = useStore(draft, (value) => value.lost);
  const isOffline = useStore(connection, ({ kind }) => kind === 'reconnecting' || kind === 'offline');
  const all = [
    ...(lost > 0 ? [`${lost === 1 ? 'An attachment was' : `${lost} attachments were`} lost with the reload`] : []),
    ...notes,
    ...(isOffline ? ['No connection. Sends when the connection is back'] : []),
  ];
  const canClose = lost > 0 || notes.length > 0;
  return (
    <div className="composer-notes">
      <div role="status">
        {all.map((note) => (
          <p key={note}>{note}</p>
        ))}
      </div>
      {canClose && (
        <IconButton
          icon={X}
          label="Close this note"
          small
          onClick={() => {
            draft.change({ lost: 0 });
            onClose();
            focusPrompt();
          }}
        />
      )}
    </div>
  );
}
