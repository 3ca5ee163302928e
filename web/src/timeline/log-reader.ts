/**
 * A Session's Log as far as it was read: backwards from its end, and forwards as it grows. It never shows a gap: where the
 * Log is another one than before, it begins anew.
 */
import type { LoggedEvent, LogPage } from '../../../src/client/connect.ts';
import { createStore, type Store } from '../state/store.ts';

export interface LogView {
  /** Newest first. */
  events: readonly LoggedEvent[];
  /** Nothing was read yet. */
  opening: boolean;
  hasOlder: boolean;
  /** Why the last reading failed. */
  error: string | undefined;
}

/** Asks for one page. */
export type ReadLog = (page: { before?: number; limit: number; full?: boolean }) => Promise<LogPage>;

const FIRST_PAGE = 200;
const NEW_PAGE = 50;
const OLDER_PAGE = 500;

export class LogReader {
  readonly view: Store<LogView> = createStore<LogView>({
    events: [],
    opening: true,
    hasOlder: false,
    error: undefined,
  });
  readonly #read: ReadLog;
  readonly #whole = new Map<number, Promise<LoggedEvent | undefined>>();
  #epoch: string | undefined;
  #last: Promise<void> = Promise.resolve();
  #waiting = { older: false, newer: false };

  constructor(read: ReadLog) {
    this.#read = read;
  }

  /** How many Events there are, as far as is known: seqs begin at 0 and have no gap. */
  get total(): number {
    return (this.view.get().events[0]?.seq ?? -1) + 1;
  }

  /** What has been recorded since; at first, the end of it. */
  newer(): Promise<void> {
    return this.#once('newer', () => this.#readNewer());
  }

  older(): Promise<void> {
    return this.#once('older', () => this.#readOlder());
  }

  /** Back to this Event, or as far as it goes. */
  async readTo(seq: number, signal?: AbortSignal): Promise<void> {
    const isThere = () => (this.view.get().events.at(-1)?.seq ?? 0) <= seq;
    while (!isThere() && this.view.get().hasOlder && !this.view.get().error && !signal?.aborted) await this.older();
  }

  /** One Event with what it says; undefined where it is too large to be sent. */
  whole(seq: number): Promise<LoggedEvent | undefined> {
    const known = this.#whole.get(seq);
    if (known !== undefined) return known;
    const read = this.#read({ before: seq + 1, limit: 1, full: true }).then(({ events }) => events[0]);
    this.#whole.set(seq, read);
    read.catch(() => this.#whole.delete(seq));
    return read;
  }

  /** One after the other; the same again while it waits is one. */
  #once(what: 'older' | 'newer', work: () => Promise<void>): Promise<void> {
    if (this.#waiting[what]) return this.#last;
    this.#waiting[what] = true;
    this.#last = this.#last
      .then(() => {
        this.#waiting[what] = false;
        return work();
      })
      .catch((error: unknown) => this.#change({ opening: false, error: messageOf(error) }));
    return this.#last;
  }

  async #readNewer(): Promise<void> {
    const known = this.view.get().events[0];
    let page = await this.#read({ limit: known ? NEW_PAGE : FIRST_PAGE });
    const isOther = page.epoch !== this.#epoch || (page.events.at(-1)?.seq ?? -1) < (known?.seq ?? -1);
    const last = isOther ? undefined : known?.seq;
    const found = [...page.events];
    while (last !== undefined && page.before !== null && (found[0]?.seq ?? 0) > last + 1) {
      page = await this.#read({ before: page.before, limit: OLDER_PAGE });
      found.unshift(...page.events);
    }
    if (isOther) this.#whole.clear();
    this.#epoch = page.epoch;
    const added = found.filter(({ seq }) => last === undefined || seq > last).reverse();
    const { events, hasOlder } = this.view.get();
    if (last === undefined) this.#change({ events: added, opening: false, hasOlder: page.before !== null });
    else this.#change({ events: added.length > 0 ? [...added, ...events] : events, hasOlder });
  }

  async #readOlder(): Promise<void> {
    const { events, hasOlder } = this.view.get();
    const oldest = events.at(-1);
    if (!oldest || !hasOlder) return;
    const page = await this.#read({ before: oldest.seq, limit: OLDER_PAGE });
    if (page.epoch !== this.#epoch) return this.#readNewer();
    this.#change({ events: [...events, ...page.events.toReversed()], hasOlder: page.before !== null });
  }

  #change(part: Partial<LogView>): void {
    this.view.set({ ...this.view.get(), error: undefined, ...part });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'The Log could not be read.';
}
