/** The list that a `/` or an `@` opens: what is in it, which of it is active, and what its keys do. It takes no focus. */
import type { AvailableCommand } from '@agentclientprotocol/sdk';
import { type KeyboardEvent, type RefObject, useEffect, useState } from 'react';
import type { FoundFile } from '../../../src/client/connect.ts';
import { usePage } from '../page.tsx';
import type { OpenSession } from '../state/open-session.ts';
import { useStore } from '../state/store.ts';
import { insertion, matchCommands, type Trigger, triggerAt } from './completion.ts';
import type { DraftStore } from './drafts.ts';

export type Suggestion = { kind: 'command'; command: AvailableCommand } | { kind: 'file'; file: FoundFile };

export interface Completion {
  trigger: Trigger | undefined;
  suggestions: readonly Suggestion[];
  /** Files are being looked for, and none were found before. */
  searching: boolean;
  active: number;
  take(index: number): void;
  /** True where the key was the list's. */
  onKey(event: KeyboardEvent): boolean;
  /** The text or the caret has changed. */
  look(): void;
  close(): void;
}

const DEBOUNCE_MS = 80;
const MAX_FILES = 20;

export function useCompletion(
  session: OpenSession,
  draft: DraftStore,
  field: RefObject<HTMLTextAreaElement | null>,
): Completion {
  const [trigger, setTrigger] = useState<Trigger>();
  const [active, setActive] = useState(0);
  /** The word whose list was closed with Escape. */
  const [closedAt, setClosedAt] = useState<number>();
  const { files, searching } = useFiles(session.sessionId, trigger?.kind === 'file' ? trigger.query : undefined);
  const commands = useStore(session.view, (view) => view.commands);
  const suggestions = suggestionsOf(trigger, commands, files);

  function look(): void {
    const next = caretTrigger(field.current);
    const isClosed = next !== undefined && next.start === closedAt;
    if (!isClosed) setClosedAt(undefined);
    if (next?.query !== trigger?.query || next?.start !== trigger?.start) setActive(0);
    setTrigger(isClosed ? undefined : next);
  }

  const close = () => setTrigger(undefined);

  function take(index: number): void {
    const chosen = suggestions[index];
    if (!trigger || !chosen || !field.current) return;
    const { start, end } = trigger;
    const value = chosen.kind === 'command' ? chosen.command.name : chosen.file.path;
    if (chosen.kind === 'file') draft.change({ links: [...draft.get().links, chosen.file] });
    replaceText(field.current, start, end, insertion(trigger, value, field.current.value));
    close();
  }

  function onKey(event: KeyboardEvent): boolean {
    const isShown = suggestions.length > 0 || (trigger?.kind === 'file' && event.key === 'Escape');
    if (!trigger || !isShown) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setActive((active + step + suggestions.length) % suggestions.length);
    else if (event.key === 'Tab' || (event.key === 'Enter' && !isWhole(trigger, suggestions[active]))) {
      if (hasModifier(event)) return false;
      take(active);
    } else if (event.key === 'Escape') {
      setClosedAt(trigger.start);
      close();
    } else return false;
    event.preventDefault();
    return true;
  }

  const at = Math.min(active, suggestions.length - 1);
  return { trigger, suggestions, searching, active: at, take, onKey, look, close };
}

function suggestionsOf(
  trigger: Trigger | undefined,
  commands: readonly AvailableCommand[],
  files: readonly FoundFile[],
): Suggestion[] {
  if (trigger?.kind === 'command')
    return matchCommands(commands, trigger.query).map((command) => ({ kind: 'command', command }));
  return trigger ? files.map((file) => ({ kind: 'file', file })) : [];
}

function caretTrigger(field: HTMLTextAreaElement | null): Trigger | undefined {
  if (!field || field.selectionStart !== field.selectionEnd) return undefined;
  return triggerAt(field.value, field.selectionStart);
}

/** A command that stands there already: Enter sends it. */
function isWhole(trigger: Trigger, suggestion: Suggestion | undefined): boolean {
  return suggestion?.kind === 'command' && suggestion.command.name === trigger.query;
}

function hasModifier({ shiftKey, ctrlKey, altKey, metaKey }: KeyboardEvent): boolean {
  return shiftKey || ctrlKey || altKey || metaKey;
}

/** As if it were typed, so that it can be undone; where the browser does not let us, without that. */
function replaceText(field: HTMLTextAreaElement, start: number, end: number, text: string): void {
  field.focus();
  field.setSelectionRange(start, end);
  if (document.execCommand('insertText', false, text)) return;
  field.setRangeText(text, start, end, 'end');
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

/** What the server finds. While it looks, the last answer stands; one that comes too late is dropped. */
function useFiles(sessionId: string, query: string | undefined): { files: readonly FoundFile[]; searching: boolean } {
  const { client } = usePage();
  const [found, setFound] = useState<{ files: readonly FoundFile[]; query: string | undefined }>(NOTHING);

  useEffect(() => {
    if (query === undefined) {
      setFound(NOTHING);
      return;
    }
    let isStale = false;
    const ask = async () => {
      const answer = await client
        .request('_pixir/session/files', { sessionId, query, limit: MAX_FILES })
        .catch(() => ({ files: [] }));
      if (!isStale) setFound({ files: answer.files, query });
    };
    const timer = setTimeout(() => void ask(), DEBOUNCE_MS);
    return () => {
      isStale = true;
      clearTimeout(timer);
    };
  }, [client, sessionId, query]);

  return { files: found.files, searching: query !== undefined && found.query !== query && found.files.length === 0 };
}

const NOTHING = { files: [], query: undefined };
