/**
 * Keeps a list at its end for as long as the person is there: whatever grows, the last line stays in sight. Only the
 * person's own hand takes it away from there; a change of size never does.
 */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** Pixels from the end that still count as the end. */
const NEAR = 32;
/** After the wheel, a key or a finger, lists go on rolling for so long. */
const ROLLS_MS = 1_500;

export interface End {
  isAtEnd: boolean;
  /** Goes there, and stays. */
  toEnd(): void;
  /** Stays where it is, whatever grows. */
  leave(): void;
  /** The size of something has changed. */
  settle(): void;
}

export function useEnd(scroller: RefObject<HTMLElement | null>, changed: unknown): End {
  const [isAtEnd, setAtEnd] = useState(true);
  const stays = useRef(true);

  const settle = useCallback(() => {
    const element = scroller.current;
    if (element && stays.current) element.scrollTop = element.scrollHeight;
  }, [scroller]);
  const set = useCallback(
    (stay: boolean) => {
      stays.current = stay;
      setAtEnd(stay);
      settle();
    },
    [settle],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is drawn has changed.
  useLayoutEffect(settle, [changed, settle]);
  useEffect(() => {
    if (scroller.current) return watch(scroller.current, set, settle);
  }, [scroller, set, settle]);

  return { isAtEnd, toEnd: useCallback(() => set(true), [set]), leave: useCallback(() => set(false), [set]), settle };
}

/** Tells whether the person has left the end or come back to it. */
function watch(element: HTMLElement, set: (atEnd: boolean) => void, settle: () => void): () => void {
  const ends = new AbortController();
  const { signal } = ends;
  let touched = Number.NEGATIVE_INFINITY;
  let isHeld = false;
  let top = element.scrollTop;
  const touch = () => {
    touched = performance.now();
  };
  const hold = (held: boolean) => () => {
    isHeld = held;
    touch();
  };
  for (const type of ['wheel', 'keydown', 'touchmove'])
    element.addEventListener(type, touch, { signal, passive: true });
  element.addEventListener('pointerdown', hold(true), { signal });
  for (const type of ['pointerup', 'pointercancel']) addEventListener(type, hold(false), { signal });
  element.addEventListener(
    'scroll',
    () => {
      const isUp = element.scrollTop < top - 1;
      top = element.scrollTop;
      const isByHand = isHeld || performance.now() - touched < ROLLS_MS;
      const rest = element.scrollHeight - top - element.clientHeight;
      if (rest <= 2 || (rest <= NEAR && !isUp)) set(true);
      else if (isUp && isByHand) set(false);
    },
    { signal, passive: true },
  );
  const sizes = new ResizeObserver(settle);
  sizes.observe(element);
  for (const child of element.children) sizes.observe(child);
  return () => {
    ends.abort();
    sizes.disconnect();
  };
}
