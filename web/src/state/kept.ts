/**
 * What this browser remembers between visits: settings, drafts, what was read. Never a credential, and nothing that the
 * server does not have but what the person has not sent.
 */
import { createStore, type Store } from './store.ts';

const PREFIX = 'pixir.';

/** A store that is kept under `name` and follows the other tabs. What cannot be read, or kept, is the initial value. */
export function keptStore<T>(name: string, initial: T): Store<T> {
  const key = PREFIX + name;
  const store = createStore(read(key, initial));
  addEventListener('storage', (event) => {
    if (event.key === key) store.set(read(key, initial));
  });
  return {
    ...store,
    set(value) {
      store.set(value);
      write(key, value);
    },
  };
}

/** Of everything that is kept here, whoever kept it. */
export function keptNames(): string[] {
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => key.slice(PREFIX.length));
}

let isForgotten = false;

/**
 * What belongs to whoever was signed in is not for the next one, and nothing more is kept in this life of the page.
 * @param but the names of what is everybody's.
 */
export function forgetAll(but: readonly string[]): void {
  isForgotten = true;
  for (const name of keptNames()) if (!but.includes(name)) localStorage.removeItem(PREFIX + name);
}

function read<T>(key: string, initial: T): T {
  try {
    const text = localStorage.getItem(key);
    return text === null ? initial : (JSON.parse(text) as T);
  } catch {
    return initial;
  }
}

function write(key: string, value: unknown): void {
  if (isForgotten) return;
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Full, or forbidden: it lasts as long as the page.
  }
}
