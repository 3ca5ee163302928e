/**
 * The prompts of a Session that wait here for what runs to end. They are kept, for every tab: a reload must not lose what
 * was sent. Each has its key from the beginning: tabs may race to send it, and it runs once.
 */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { keptNames, keptStore } from './kept.ts';

export interface QueuedPrompt {
  promptKey: string;
  content: ContentBlock[];
}

export interface Queue {
  all(): readonly QueuedPrompt[];
  add(content: ContentBlock[]): void;
  /** It could not be sent: it is the next one again. */
  putBack(prompt: QueuedPrompt): void;
  /** The oldest, no longer in the queue. */
  take(): QueuedPrompt | undefined;
  /** False where it is no longer there: it was sent. */
  remove(promptKey: string): boolean;
}

const NAME = 'queue.';

/** Of an earlier life, or another tab. */
export function sessionsWithQueue(): string[] {
  const names = keptNames().filter((name) => name.startsWith(NAME));
  return names
    .filter((name) => keptStore<QueuedPrompt[]>(name, []).get().length > 0)
    .map((name) => name.slice(NAME.length));
}

export function createQueue(sessionId: string, changed: () => void): Queue {
  const kept = keptStore<QueuedPrompt[]>(NAME + sessionId, []);
  const set = (prompts: QueuedPrompt[]) => {
    kept.set(prompts);
    changed();
  };
  const without = (promptKey: string) => kept.get().filter((prompt) => prompt.promptKey !== promptKey);
  return {
    all: kept.get,
    add: (content) => set([...kept.get(), { promptKey: newKey(), content }]),
    // Another tab may have put back the same one.
    putBack: (prompt) => set([prompt, ...without(prompt.promptKey)]),
    take() {
      const [first, ...rest] = kept.get();
      if (first) set(rest);
      return first;
    },
    remove(promptKey) {
      const others = without(promptKey);
      if (others.length === kept.get().length) return false;
      set(others);
      return true;
    },
  };
}

/** 128 random bits; not `randomUUID`, which a page has only where it was served securely. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
