/** The time, in steps of a second, by one timer for everybody who shows it. It runs only while somebody does. */
import { useSyncExternalStore } from 'react';

const SECOND = 1_000;

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  now = Date.now();
  timer ??= setInterval(tick, SECOND);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}

const never = () => () => undefined;

/** Milliseconds since 1970. @param ticking false: the component is not drawn again for it. */
export function useNow(ticking = true): number {
  return useSyncExternalStore(ticking ? subscribe : never, () => now);
}
