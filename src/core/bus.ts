/**
 * The bus: tells whoever watches a Session that something happened. It is lossy by contract and carries no truth: a
 * listener that misses a signal finds everything in the Session and its Log.
 */
import type { Progress } from './tool.ts';

export type Signal =
  /** Events were committed up to and including `seq`. */
  | { type: 'committed'; seq: number }
  /** Text was added to the live item; `offset` counts UTF-16 code units from the item's start. */
  | { type: 'delta'; messageId: string; kind: 'message' | 'thought'; offset: number; text: string }
  /** What is shown of a running tool; it replaces what was shown before. */
  | { type: 'tool_output'; callId: string; output: Progress }
  /** The Session was deleted. */
  | { type: 'deleted' };

export type Listener = (signal: Signal, sessionId: string) => void;
type Unsubscribe = () => void;

export interface Bus {
  /** Calls every listener of the Session, synchronously. A listener that throws does not disturb the others. */
  publish(sessionId: string, signal: Signal): void;
  subscribe(sessionId: string, listener: Listener): Unsubscribe;
  /** The same for every Session there is. */
  subscribeToAll(listener: Listener): Unsubscribe;
}

/** @param onError hears of what a listener threw. */
export function createBus(onError: (error: unknown) => void): Bus {
  const listeners = new Map<string, Set<Listener>>();
  const listenersToAll = new Set<Listener>();

  function tell(listener: Listener, signal: Signal, sessionId: string): void {
    try {
      listener(signal, sessionId);
    } catch (error) {
      onError(error);
    }
  }

  return {
    publish(sessionId, signal) {
      for (const listener of listeners.get(sessionId) ?? []) tell(listener, signal, sessionId);
      for (const listener of listenersToAll) tell(listener, signal, sessionId);
    },
    subscribe(sessionId, listener) {
      const set = listeners.get(sessionId) ?? new Set();
      listeners.set(sessionId, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(sessionId) === set) listeners.delete(sessionId);
      };
    },
    subscribeToAll(listener) {
      listenersToAll.add(listener);
      return () => void listenersToAll.delete(listener);
    },
  };
}
