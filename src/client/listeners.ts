/** Tells whoever listens, in order. An iterator keeps what its reader has not taken yet; nobody else waits for it. */
export interface Listeners<T> {
  tell(value: T): void;
  /** Nothing follows: iterators end when they have been read to their end. */
  end(): void;
  /** Hears everything from now on, until the loop is left. */
  iterate(): AsyncGenerator<T, void>;
}

export function createListeners<T extends object>(): Listeners<T> {
  const all = new Set<(value: T | undefined) => void>();
  const tell = (value: T | undefined) => {
    for (const hear of all) hear(value);
  };

  async function* read(waiting: (T | undefined)[], woken: () => Promise<void>, leave: () => void) {
    try {
      for (;;) {
        while (waiting.length === 0) await woken();
        const value = waiting.shift();
        if (value === undefined) return;
        yield value;
      }
    } finally {
      leave();
    }
  }

  return {
    tell,
    end: () => tell(undefined),
    iterate() {
      const waiting: (T | undefined)[] = [];
      let wake = () => {};
      const hear = (value: T | undefined) => {
        waiting.push(value);
        wake();
      };
      all.add(hear);
      const woken = () =>
        new Promise<void>((resolve) => {
          wake = resolve;
        });
      return read(waiting, woken, () => all.delete(hear));
    },
  };
}
