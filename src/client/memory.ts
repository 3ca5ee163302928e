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

/** `promptKey`: 128 random bits of one's own, where one keeps prompts that wait; else the client makes one. */
export type PromptMeta = Record<string, unknown> & { pixir?: { promptKey?: string } };

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
  const promptKey = `${placeKey}:prompt`;
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other, also where the storage takes its time: what was forgotten must not be read once more. */
  function inOrder<T>(work: () => T | Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  }

  async function read<T>(key: string): Promise<T | undefined> {
    const text = await inOrder(() => storage.getItem(key));
    try {
      return text === null ? undefined : (JSON.parse(text) as T);
    } catch {
      return undefined;
    }
  }

  const save = (key: string, value: object) => inOrder(() => storage.setItem(key, JSON.stringify(value)));
  const remove = (key: string) => inOrder(() => storage.removeItem(key));
  return {
    place: () => read<Place>(placeKey),
    savePlace: (place) => save(placeKey, place).catch(() => remove(placeKey)),
    prompt: () => read<StoredPrompt>(promptKey),
    savePrompt: (prompt) => save(promptKey, prompt),
    forgetPrompt: () => remove(promptKey),
    async forget() {
      await remove(placeKey);
      await remove(promptKey);
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
