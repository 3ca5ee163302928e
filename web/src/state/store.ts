/** A value that components watch. It holds state and nothing else: what may change it is its owner's business. */
import { useSyncExternalStore } from 'react';

export interface Store<T> {
  get(): T;
  set(next: T): void;
  /** Hears every change. @returns what ends it. */
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** @param select must give the same object for the same value: draw only what changed. */
export function useStore<T, S = T>(
  { get, subscribe }: Pick<Store<T>, 'get' | 'subscribe'>,
  select: (value: T) => S = (value) => value as unknown as S,
): S {
  return useSyncExternalStore(subscribe, () => select(get()));
}
