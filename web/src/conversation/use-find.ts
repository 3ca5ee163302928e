/** The state of a search: reads the rest of the conversation once, then looks for the words, and knows which match is shown. */
import { useEffect, useState } from 'react';
import type { OpenSession } from '../state/open-session.ts';
import { useStore } from '../state/store.ts';
import { findMatches, type Match, MOST_MATCHES } from './matches.ts';

export interface Search {
  matches: readonly Match[];
  /** Which of them is shown; -1: none. */
  current: number;
  /** For people. */
  status: string;
  step(by: -1 | 1): void;
}

/** Typing goes on for so long before it is looked for. */
const TYPING_MS = 120;

export function useSearch(session: OpenSession, query: string): Search {
  const reading = useEverything(session);
  const items = useStore(session.view, (view) => view.items);
  // What streams in is looked through when it has come, not letter by letter.
  const count = items.length;
  const [found, setFound] = useState<{ query: string; matches: readonly Match[] }>({ query: '', matches: [] });
  const [at, setAt] = useState<Match>();

  // biome-ignore lint/correctness/useExhaustiveDependencies: see `count`.
  useEffect(() => {
    let isStale = false;
    const breathe = () => new Promise<boolean>((resolve) => setTimeout(() => resolve(!isStale)));
    const timer = setTimeout(async () => {
      const matches = await findMatches(session.view.get().items, query, breathe);
      if (isStale) return;
      setFound({ query, matches });
      // The newest one first: that is where the person is.
      setAt((before) => matches.find((match) => isSame(match, before)) ?? matches.at(-1));
    }, TYPING_MS);
    return () => {
      isStale = true;
      clearTimeout(timer);
    };
  }, [session, query, count]);

  const { matches } = found;
  const current = at ? matches.findIndex((match) => isSame(match, at)) : -1;
  return {
    matches,
    current,
    status: statusOf(query, found.query, matches.length, current, reading),
    step: (by) => setAt(matches.at((current + by) % matches.length)),
  };
}

function isSame(match: Match, other: Match | undefined): boolean {
  return match.itemId === other?.itemId && match.offset === other.offset;
}

function statusOf(query: string, asked: string, count: number, current: number, reading: string | undefined): string {
  const rest = reading === undefined ? '' : ` · ${reading}`;
  if (query === '') return reading ?? '';
  if (query !== asked) return 'Looking…';
  if (count === 0) return `Nothing found${rest}`;
  return `${current + 1} of ${count === MOST_MATCHES ? `${count} or more` : count}${rest}`;
}

/** Reads page by page for as long as somebody looks for something. @returns how far it is; undefined: everything is there. */
function useEverything(session: OpenSession): string | undefined {
  const count = useStore(session.view, ({ items }) => items.length);
  const hasOlder = useStore(session.view, (view) => view.hasOlder);
  useEffect(() => {
    let isStale = false;
    const read = async () => {
      for (let before: unknown; !isStale && session.view.get().hasOlder; ) {
        await session.older();
        // Nothing has come: the Session is closed, or not open yet.
        if (session.view.get() === before) return;
        before = session.view.get();
      }
    };
    // The connection: it is said elsewhere.
    read().catch(() => undefined);
    return () => {
      isStale = true;
    };
  }, [session]);
  return hasOlder ? `reading, ${count.toLocaleString()} items so far` : undefined;
}
