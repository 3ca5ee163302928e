/** The field for the prompt, with its completion. It never sends by itself: it says that it shall be sent. */
import { type ClipboardEvent, type KeyboardEvent, type RefObject, useEffect, useId, useLayoutEffect } from 'react';
import type { OpenSession } from '../state/open-session.ts';
import { settings } from '../state/settings.ts';
import { useStore } from '../state/store.ts';
import { announce } from '../ui/announce.ts';
import { pastedFiles } from './attach.tsx';
import { isSendKey } from './completion.ts';
import { CompletionList, optionId } from './completion-list.tsx';
import type { DraftStore } from './drafts.ts';
import { type Completion, useCompletion } from './use-completion.ts';

interface FieldProps {
  session: OpenSession;
  draft: DraftStore;
  field: RefObject<HTMLTextAreaElement | null>;
  onSend(): void;
  /** True where it means something: then it is nobody else's. */
  onEscape(): boolean;
  onFiles(files: File[]): void;
}

export function PromptField({ session, draft, field, onSend, onEscape, onFiles }: FieldProps) {
  const text = useStore(draft, (value) => value.text);
  const enterSends = useStore(settings, (value) => value.enterSends) && !isCoarse();
  const listId = useId();
  const completion = useCompletion(session, draft, field);
  const { trigger, suggestions, active } = completion;
  const isOpen = trigger !== undefined && suggestions.length > 0;
  useGrowth(field, text);
  useAnnounced(completion);

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>): void {
    // An input method uses these keys itself; Safari tells only by the old code.
    if (event.nativeEvent.isComposing || event.keyCode === 229 || completion.onKey(event)) return;
    if (event.key === 'Escape' && onEscape()) event.preventDefault();
    if (!isSendKey(event, enterSends)) return;
    event.preventDefault();
    if (!event.repeat) onSend();
  }

  function onPaste(event: ClipboardEvent<HTMLTextAreaElement>): void {
    const files = pastedFiles(event);
    if (files.length === 0) return;
    event.preventDefault();
    onFiles(files);
  }

  return (
    <>
      <CompletionList id={listId} completion={completion} />
      <textarea
        ref={field}
        id="prompt"
        className="prompt-field"
        rows={1}
        aria-label="Prompt"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        // ARIA in HTML allows a textarea neither the role of a combobox nor `aria-expanded`: how many there are is announced.
        aria-controls={isOpen ? listId : undefined}
        aria-activedescendant={isOpen ? optionId(listId, active) : undefined}
        placeholder="What next? / for commands, @ for files"
        enterKeyHint={enterSends ? 'send' : 'enter'}
        autoComplete="off"
        value={text}
        onChange={(event) => {
          draft.change({ text: event.target.value });
          completion.look();
        }}
        onSelect={completion.look}
        onBlur={completion.close}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
    </>
  );
}

/** A finger: there Enter has no Shift beside it. */
function isCoarse(): boolean {
  return matchMedia('(pointer: coarse)').matches;
}

/** After what had the focus is gone. On phones it would bring up the keyboard. */
export function focusPrompt(): void {
  if (!isCoarse()) document.getElementById('prompt')?.focus();
}

/** Where the browser does not let a field grow with its text, it is measured. */
function useGrowth(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is what changes its height.
  useLayoutEffect(() => {
    if (!field.current || CSS.supports('field-sizing', 'content')) return;
    field.current.style.height = 'auto';
    field.current.style.height = `${field.current.scrollHeight}px`;
  }, [field, text]);
}

function useAnnounced({ trigger, suggestions }: Completion): void {
  const kind = trigger?.kind;
  const count = suggestions.length;
  useEffect(() => {
    if (kind === undefined || count === 0) return;
    const what = kind === 'command' ? 'command' : 'file';
    announce(`${count} ${what}${count === 1 ? '' : 's'}: arrow keys to choose, Enter to take`);
  }, [kind, count]);
}

/**
 * The focus goes with the person from Session to Session; not on phones, where it would bring up the keyboard, and not
 * away from something that is being answered or typed elsewhere.
 */
export function useFocusAtFirst(session: OpenSession, field: RefObject<HTMLTextAreaElement | null>): void {
  useEffect(() => {
    const element = field.current;
    const isBusy = document.activeElement?.matches('input, textarea, select, dialog *, [popover] *') ?? false;
    if (!element || isCoarse() || isBusy || session.view.get().permissions.length > 0) return;
    element.focus();
    element.setSelectionRange(element.value.length, element.value.length);
  }, [session, field]);
}
