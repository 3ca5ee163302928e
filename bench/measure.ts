/** Clocks and middles. Every figure of the benchmark is a median: this machine is never quiet. */

/** Milliseconds of the machine's monotonic clock: the same in all processes. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** @param part 0.5 is the median. */
export function quantile(values: readonly number[], part = 0.5): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

export async function repeat<T>(times: number, work: (round: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let round = 0; round < times; round++) results.push(await work(round));
  return results;
}
