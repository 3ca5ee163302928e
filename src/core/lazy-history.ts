/**
 * History when it is needed: read from the Log when a Turn first asks for it, and advanced with every Event from then on.
 * A Session that is only watched never reads it. It must neither miss nor repeat what is committed while it is read.
 */
import { CoreError } from './errors.ts';
import type { Event } from './event.ts';
import { applyToHistory, emptyHistory, type History } from './history.ts';
import type { Entry } from './log.ts';

/** What History is folded from: the published entries, up to and including the head. */
interface Source {
  readonly head: number;
  read(after: number, limit: number): Entry[] | Promise<Entry[]>;
}

export interface LazyHistory {
  /** Takes what is published now, in the same tick. */
  advance(event: Event): void;
  /** @throws the signal's reason; CoreError `log_corrupt`. */
  get(signal: AbortSignal): Promise<Readonly<History>>;
}

const PAGE = 1_000;

/** @param known History up to the head, where there is nothing to read. */
export function lazyHistory(source: Source, known?: History): LazyHistory {
  let history = known;
  return {
    advance(event) {
      if (history) applyToHistory(history, event);
    },
    async get(signal) {
      if (history) return history;
      const read = emptyHistory();
      for (let seq = -1; seq < source.head; ) {
        const page = await source.read(seq, PAGE);
        signal.throwIfAborted();
        if (page.length === 0) throw new CoreError('log_corrupt', 'the Log has a gap', { expected: seq + 1 });
        for (const { event } of page) applyToHistory(read, event);
        seq += page.length;
        // Other Sessions take their turn between two pages.
        if (seq < source.head) await new Promise((resolve) => setImmediate(resolve));
      }
      // No await since the last look at the head: whatever is published from now on finds it here.
      history = read;
      return history;
    },
  };
}
