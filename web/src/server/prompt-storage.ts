/**
 * Where the prompts wait that are not answered yet, so that a reload sends them again, once: in localStorage, and those that
 * do not fit there, because of their images, in IndexedDB. It keeps nothing else: transcripts are the server's to remember.
 */
import type { ClientStorage } from '../../../src/client/memory.ts';

const DATABASE = 'pixir';
/** Stands in localStorage for a prompt that is in the database. It is no JSON, and so no prompt. */
const ELSEWHERE = 'indexeddb';
const STORE = 'prompts';

export const promptStorage: ClientStorage = {
  getItem(key) {
    if (!isPrompt(key)) return null;
    const text = localStorage.getItem(key);
    return text === ELSEWHERE ? read(key) : text;
  },
  async setItem(key, value) {
    if (!isPrompt(key)) return;
    try {
      localStorage.setItem(key, value);
    } catch {
      await inStore('readwrite', (store) => store.put(value, key));
      localStorage.setItem(key, ELSEWHERE);
    }
  },
  async removeItem(key) {
    const isElsewhere = localStorage.getItem(key) === ELSEWHERE;
    localStorage.removeItem(key);
    if (isElsewhere) await inStore('readwrite', (store) => store.delete(key));
  },
};

/** Of every Session: whoever signs in next did not write them. */
export function forgetPrompts(): void {
  for (const key of Object.keys(localStorage).filter(isPrompt)) localStorage.removeItem(key);
  indexedDB.deleteDatabase(DATABASE);
}

function isPrompt(key: string): boolean {
  return key.endsWith(':prompt');
}

async function read(key: string): Promise<string | null> {
  const text: unknown = await inStore('readonly', (store) => store.get(key)).catch(() => undefined);
  return typeof text === 'string' ? text : null;
}

/** Resolves when it is on disk, as far as the browser tells. */
async function inStore<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode, { durability: 'strict' });
      const request = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
