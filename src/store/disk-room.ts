/**
 * Tells whether the file system of the data directory has room for more. It only measures; that nothing is lost when the
 * disk is full after all is the Log's business.
 */
import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Clock } from '../core/clock.ts';

export interface DiskRoomOptions {
  dir: string;
  minFreeBytes: number;
  clock: Pick<Clock, 'now'>;
  /** Called each time the room becomes too little. */
  onLow(freeBytes: number): void;
  measure?: (dir: string) => Promise<Pick<StatsFs, 'bavail' | 'bsize' | 'blocks'>>;
}

const MEASURE_EVERY_MS = 1_000;

/** @returns whether there is room, as it was less than a second ago. It never rejects. */
export function diskRoom({
  dir,
  minFreeBytes,
  clock,
  onLow,
  measure = statfs,
}: DiskRoomOptions): () => Promise<boolean> {
  let wasLow = false;
  let measuredAt = Number.NEGATIVE_INFINITY;
  let answer = Promise.resolve(true);

  async function look(): Promise<boolean> {
    const free = await freeBytes(dir, measure);
    const isLow = free < minFreeBytes;
    if (isLow && !wasLow) onLow(free);
    wasLow = isLow;
    return !isLow;
  }

  return () => {
    const now = clock.now();
    // Also when the clock was set back.
    if (Math.abs(now - measuredAt) >= MEASURE_EVERY_MS) {
      measuredAt = now;
      answer = look();
    }
    return answer;
  };
}

/**
 * What cannot be measured counts as room: a gauge that fails, or a file system that keeps no count, must not stop work
 * that would succeed, and a disk that really is full refuses the write itself.
 */
async function freeBytes(dir: string, measure: NonNullable<DiskRoomOptions['measure']>): Promise<number> {
  try {
    const { bavail, bsize, blocks } = await measure(dir);
    return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
