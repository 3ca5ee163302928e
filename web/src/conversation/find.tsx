/** Finding words in the whole conversation, also in what has not been read or drawn yet. */
import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { perFrame } from '../state/frame.ts';
import type { OpenSession } from '../state/open-session.ts';
import { IconButton } from '../ui/button.tsx';
import { currentRect, mark, unmark } from './find-marks.ts';
import { occurrences, textOf } from './matches.ts';
import type { Row } from './rows.ts';
import { type Search, useSearch } from './use-find.ts';
import './find.css';

interface FindProps {
  session: OpenSession;
  list: RefObject<HTMLElement | null>;
  /** Brings the row of a match into sight. */
  showMatch(itemId: string, offset: number): Row | undefined;
  onClose(): void;
}

export function Find({ session, list, showMatch, onClose }: FindProps) {
  const [query, setQuery] = useState('');
  const search = useSearch(session, query);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  useMarks(list, query, search, showMatch);

  const pressed = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose();
    else if (event.key === 'Enter' && event.target === field.current) search.step(event.shiftKey ? -1 : 1);
    else if (event.key.toLowerCase() === 'f' && (event.ctrlKey || event.metaKey)) field.current?.select();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const none = search.matches.length === 0;

  return (
    <search className="find" onKeyDown={pressed}>
      <input
        ref={field}
        className="input"
        type="text"
        placeholder="Find in conversation"
        aria-label="Find in conversation"
        spellCheck={false}
        value={query}
        onChange={(event) => setQuery(event.target.value)}
      />
      <output className="find-status">{search.status}</output>
      <IconButton icon={ChevronUp} label="Previous match" small disabled={none} onClick={() => search.step(-1)} />
      <IconButton icon={ChevronDown} label="Next match" small disabled={none} onClick={() => search.step(1)} />
      <IconButton icon={X} label="Close find" small onClick={onClose} />
    </search>
  );
}

/** Goes to the match, and marks it and the others for as long as they are drawn, whatever is drawn anew. */
function useMarks(
  list: RefObject<HTMLElement | null>,
  query: string,
  { matches, current }: Search,
  showMatch: FindProps['showMatch'],
): void {
  const match = matches[current];
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const row = match && showMatch(match.itemId, match.offset);
    const nth = row && match ? occurrences(textOf(row.item), query, row.part?.start ?? 0, match.offset).length : 0;
    let isNew = true;
    const draw = perFrame(() => {
      mark(element, query, row?.key, nth);
      const rect = currentRect();
      if (!isNew || !rect) return;
      isNew = false;
      const box = element.getBoundingClientRect();
      if (rect.top < box.top + EDGE || rect.bottom > box.bottom - EDGE)
        element.scrollTop += rect.top - box.top - box.height / 2;
    });
    draw();
    const changes = new MutationObserver(draw);
    changes.observe(element, { childList: true, subtree: true, characterData: true });
    return () => {
      changes.disconnect();
      unmark(element);
    };
  }, [list, query, match, showMatch]);
}

const EDGE = 60;
