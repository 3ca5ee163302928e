/**
 * What a client keeps between two lives of its page or process: for each Session a transcript together with the cursor it
 * belongs to, and the prompt that is not answered yet. A record that is old, or gone, costs only a longer backfill.
 */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { emptyTranscript, type Transcript } from './transcript.ts';

/** `localStorage` is one; so is anything with these three, synchronous or not. */
export interface ClientStorage {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, value: string): void | Promise<void>;
  removeItem(key: string): void | Promise<void>;
}

/** A transcript and the position that it shows: never one without the other. */
export interface Place {
  /** Undefined before anything was shown; `head`: nothing of what there is shall be. */
  cursor: string | undefined;
  transcript: Transcript;
  /** What lies before the transcript; null where it begins with the Session. */
  before: string | null;
}

export function nowhere(): Place {
  return { cursor: undefined, transcript: emptyTranscript(), before: null };
}

export type PromptMeta = Record<string, unknown> & { pixir?: object };

export interface StoredPrompt {
  promptKey: string;
  prompt: ContentBlock[];
  /** The prompt's `_meta`. */
  meta: PromptMeta;
}

export interface SessionMemory {
  place(): Promise<Place | undefined>;
  /** Where the storage is full the place is forgotten instead: the next life begins from the start. */
  savePlace(place: Place): Promise<void>;
  prompt(): Promise<StoredPrompt | undefined>;
  /** @throws whatever the storage throws: a prompt that could not be kept must not be sent as if it were. */
  savePrompt(prompt: StoredPrompt): Promise<void>;
  forgetPrompt(): Promise<void>;
  forget(): Promise<void>;
}

export function sessionMemory(storage: ClientStorage, sessionId: string): SessionMemory {
  const placeKey = `pixir:${sessionId}`;
  const promptKey = `pixir:${sessionId}:prompt`;

  async function read<T>(key: string): Promise<T | undefined> {
    const text = await storage.getItem(key);
    try {
      return text === null ? undefined : (JSON.parse(text) as T);
    } catch {
      return undefined;
    }
  }

  return {
    place: () => read<Place>(placeKey),
    async savePlace(place) {
      try {
        await storage.setItem(placeKey, JSON.stringify(place));
      } catch {
        await storage.removeItem(placeKey);
      }
    },
    prompt: () => read<StoredPrompt>(promptKey),
    savePrompt: async (prompt) => storage.setItem(promptKey, JSON.stringify(prompt)),
    forgetPrompt: async () => storage.removeItem(promptKey),
    async forget() {
      await storage.removeItem(placeKey);
      await storage.removeItem(promptKey);
    },
  };
}

/** For one life only. */
export function noStorage(): ClientStorage {
  const kept = new Map<string, string>();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}
