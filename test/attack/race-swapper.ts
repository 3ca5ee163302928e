/** The other side of the race: swaps a directory of the workspace for a symlink out of it, as fast as it can. */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';

const { inside, stop } = workerData as { inside: string; stop: Int32Array };
const [real, kept, link] = ['d', 'kept', 'link'].map((name) => join(inside, name)) as [string, string, string];

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // The other side was faster; the next round mends it.
  }
}

/** A write in between may have made the directory anew. */
const clear = () => rmSync(real, { recursive: true, force: true });
const back = [() => renameSync(real, link), clear, () => renameSync(kept, real)];

while (Atomics.load(stop, 0) === 0) {
  for (const step of [() => renameSync(real, kept), clear, () => renameSync(link, real), ...back]) attempt(step);
}
