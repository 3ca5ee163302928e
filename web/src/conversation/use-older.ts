/** Reads older items before the person gets to where they are missing. One page at a time. */
import { type RefObject, useCallback, useEffect, useRef } from 'react';
import type { VirtualizerHandle } from 'virtua';
import type { OpenSession } from '../state/open-session.ts';

/** In windows: how near the top. */
const AHEAD = 3;

/** @param drawn looked at whenever it is another one; undefined: not yet. @returns what the list tells its scrolling to. */
export function useOlder(session: OpenSession, list: RefObject<VirtualizerHandle | null>, drawn: unknown): () => void {
  const isReading = useRef(false);
  const look = useCallback(() => {
    const handle = list.current;
    if (isReading.current || !handle || !session.view.get().hasOlder) return;
    if (handle.scrollOffset > handle.viewportSize * AHEAD) return;
    isReading.current = true;
    session
      .older()
      // The connection: it is said elsewhere, and scrolling tries again.
      .catch(() => undefined)
      .finally(() => {
        isReading.current = false;
      });
  }, [session, list]);

  useEffect(() => {
    if (drawn !== undefined) look();
  }, [drawn, look]);
  return look;
}
