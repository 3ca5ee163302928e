/** The title above a Session, which becomes a field when it is to be another one. What was typed is kept unless Escape gives it up. */
import { type KeyboardEvent, useRef, useState } from 'react';
import { usePage } from '../page.tsx';
import { createStore, useStore } from '../state/store.ts';
import { toast } from '../ui/toast.tsx';
import { problemOf, type Subject } from './actions.ts';

/** The Session whose title is a field now. */
export const renaming = createStore<string | undefined>(undefined);

const LONGEST = 200;

export function SessionTitle({ subject: { sessionId, title } }: { subject: Subject }) {
  const { client } = usePage();
  const isField = useStore(renaming, (id) => id === sessionId);
  /** Shown until the server has said it too. */
  const [wanted, setWanted] = useState<{ title: string; before: string }>();
  const byKey = useRef(false);
  if (wanted && wanted.before !== title) setWanted(undefined);
  const shown = wanted?.title ?? title;

  function rename(text: string): void {
    const next = text.trim();
    if (next === '' || next === shown) return;
    setWanted({ title: next, before: title });
    client.request('session/set_title', { sessionId, title: next }).catch((error: unknown) => {
      setWanted(undefined);
      toast(`The Session could not be renamed. ${problemOf(error)}`, { failed: true });
    });
  }

  function done(text: string | undefined, key: boolean): void {
    byKey.current = key;
    renaming.set(undefined);
    if (text !== undefined) rename(text);
  }

  if (isField) return <TitleField title={shown} onDone={done} />;
  return (
    <h1 className="session-title">
      <button
        ref={(button) => takeBack(button, byKey)}
        type="button"
        title={`${shown}\nRename (F2)`}
        aria-keyshortcuts="F2"
        onClick={() => renaming.set(sessionId)}
      >
        {shown}
      </button>
    </h1>
  );
}

/** The field had the focus, and a key has closed it. */
function takeBack(button: HTMLButtonElement | null, byKey: { current: boolean }): void {
  if (byKey.current) button?.focus();
  if (button) byKey.current = false;
}

function selectAll(field: HTMLInputElement | null): void {
  field?.select();
}

interface FieldProps {
  title: string;
  /** With nothing: it stays as it was. */
  onDone(text: string | undefined, byKey: boolean): void;
}

function TitleField({ title, onDone }: FieldProps) {
  const isDone = useRef(false);

  function done(text: string | undefined, byKey: boolean): void {
    if (isDone.current) return;
    isDone.current = true;
    onDone(text, byKey);
  }

  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    done(event.key === 'Enter' ? event.currentTarget.value : undefined, true);
  }

  return (
    <input
      ref={selectAll}
      className="input session-title-field"
      aria-label="Session title"
      defaultValue={title}
      maxLength={LONGEST}
      onBlur={(event) => done(event.currentTarget.value, false)}
      onKeyDown={onKeyDown}
    />
  );
}
