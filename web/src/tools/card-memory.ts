/**
 * What the person opened in the cards of a Session. It outlives a card, which goes when it is scrolled out of sight, and
 * ends with the Session.
 */
import { useContext, useState } from 'react';
import { PageContext } from '../page.tsx';
import type { OpenSession } from '../state/open-session.ts';
import { route } from '../state/route.ts';
import { useStore } from '../state/store.ts';

const bySession = new WeakMap<object, Map<string, unknown>>();
const elsewhere = {};

/** The Session on the screen. */
export function useShownSession(): OpenSession | undefined {
  const page = useContext(PageContext);
  const where = useStore(route);
  return where.page === 'session' ? page?.shown.session(where.sessionId) : undefined;
}

/** Like `useState`, and remembered under `key`; undefined until the person chose. */
export function useRemembered<T>(session: OpenSession | undefined, key: string) {
  const owner = session ?? elsewhere;
  const memory = bySession.get(owner) ?? new Map<string, unknown>();
  bySession.set(owner, memory);
  const [value, setValue] = useState(memory.get(key) as T | undefined);
  const remember = (next: T) => {
    memory.set(key, next);
    setValue(next);
  };
  return [value, remember] as const;
}
