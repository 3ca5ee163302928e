/**
 * Work that several may want at once: one piece of it per key, whose result they share. It must never go on when
 * everybody who asked has given up.
 */

interface Job<T> {
  result: Promise<T>;
  abort: AbortController;
  waiting: number;
}

type Work<T> = (key: string, signal: AbortSignal) => Promise<T>;

/** @param keep calls its argument when a result is too old to be shared any more; at once where it is left out. */
export function shared<T>(work: Work<T>, keep: (forget: () => void) => void = (forget) => forget()): Work<T> {
  const jobs = new Map<string, Job<T>>();

  function begin(key: string): Job<T> {
    const abort = new AbortController();
    const job = { result: work(key, abort.signal), abort, waiting: 0 };
    jobs.set(key, job);
    const forget = () => remove(key, job);
    job.result.then(() => keep(forget), forget);
    return job;
  }

  function remove(key: string, job: Job<T>): void {
    if (jobs.get(key) === job) jobs.delete(key);
  }

  return async (key, signal) => {
    signal.throwIfAborted();
    const job = jobs.get(key) ?? begin(key);
    job.waiting++;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    try {
      return await Promise.race([job.result, aborted]);
    } finally {
      signal.removeEventListener('abort', onAbort);
      job.waiting--;
      if (signal.aborted && job.waiting === 0) {
        remove(key, job);
        job.abort.abort(signal.reason);
        // Whoever gave up is answered when nothing of it is left.
        await job.result.catch(() => undefined);
      }
    }
  };
}
