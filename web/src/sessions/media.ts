/** What the window is like, where CSS alone cannot tell things apart. */
import { useSyncExternalStore } from 'react';

/** The layout of a phone, as shell.css has it. */
const PHONE = '(width < 800px)';

export function isPhone(): boolean {
  return matchMedia(PHONE).matches;
}

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const list = matchMedia(query);
      list.addEventListener('change', changed);
      return () => list.removeEventListener('change', changed);
    },
    () => matchMedia(query).matches,
  );
}
