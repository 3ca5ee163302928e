/** Asks a server under measurement, which must have been started with `PROBED`, what only the process itself knows. */
import type { Running, Variables } from './processes.ts';

export interface Reading {
  /** Of the event loop since the last reading, in milliseconds; one of them is the sampling itself. */
  loop: { median: number; p99: number; worst: number };
  /** The share of one processor that it used since the last reading. */
  busy: number;
  /** Bytes, after a garbage collection. */
  rss: number;
  heapUsed: number;
}

export const PROBED: Variables = { NODE_OPTIONS: `--expose-gc --import ${import.meta.resolve('./probe-preload.ts')}` };

export function probe({ child }: Running): Promise<Reading> {
  return new Promise((resolve) => {
    let said = '';
    const read = (text: string) => {
      said += text;
      const answer = /^probe (.*)\n/m.exec(said)?.[1];
      if (answer === undefined) return;
      child.stderr.off('data', read);
      resolve(JSON.parse(answer) as Reading);
    };
    child.stderr.on('data', read);
    child.kill('SIGUSR2');
  });
}
