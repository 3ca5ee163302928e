/**
 * Group commit: writes that wait together are committed together, in the order they were asked for, so that throughput
 * is bounded by fsyncs and not by Events. A write must never be answered before its commit.
 */
import { CoreError } from '../core/errors.ts';

export interface WriteQueue {
  /** Runs `write` in the next commit. Its own CoreError, thrown before it has changed anything, rejects it alone. */
  enqueue<T>(write: () => T): Promise<T>;
  /** Commits what is waiting, now. */
  flush(): void;
  readonly stats: Readonly<WriteStats>;
}

export interface WriteStats {
  /** Commits so far. */
  commits: number;
  /** Writes they carried. */
  writes: number;
}

interface Job {
  /** Does the work; the function it returns tells the caller, once the commit has happened. */
  run(): () => void;
  reject(error: CoreError): void;
}

/**
 * @param transact runs its argument in one transaction: all of it, or none and an exception.
 * @param onFailure hears why a whole commit failed; what it returns rejects every write in it.
 */
export function writeQueue(
  transact: (work: () => void) => void,
  onFailure: (thrown: unknown) => CoreError,
): WriteQueue {
  const stats: WriteStats = { commits: 0, writes: 0 };
  let waiting: Job[] = [];

  function flush(): void {
    const jobs = waiting;
    waiting = [];
    if (jobs.length === 0) return;
    const settle: (() => void)[] = [];
    try {
      transact(() => {
        for (const job of jobs) settle.push(job.run());
      });
    } catch (thrown) {
      const error = onFailure(thrown);
      for (const job of jobs) job.reject(error);
      return;
    }
    stats.commits += 1;
    stats.writes += jobs.length;
    for (const tell of settle) tell();
  }

  function enqueue<T>(write: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const run = () => {
      try {
        const value = write();
        return () => resolve(value);
      } catch (thrown) {
        if (thrown instanceof CoreError) return () => reject(thrown);
        throw thrown;
      }
    };
    waiting.push({ run, reject });
    // Not a microtask: an immediate runs after all input that arrived together was handled, so that the Sessions it
    // woke share one fsync.
    if (waiting.length === 1) setImmediate(flush);
    return promise;
  }

  return { enqueue, flush, stats };
}
