/** A process that claims a data directory and holds it until it is killed or its stdin ends. */
import { writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { toCoreError } from '../../src/core/errors.ts';
import { claimDataDir } from '../../src/store/data-dir.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Nobody keeps what was claimed: a claim must not end with a variable. */
function claim(dir: string): void {
  claimDataDir(dir).announce('http://127.0.0.1:7494');
}

try {
  claim(process.argv[2] ?? '');
  for (let round = 0; round < 5; round++) {
    collectGarbage();
    await setImmediate();
  }
  writeSync(1, 'held\n');
  process.stdin.resume();
} catch (thrown) {
  writeSync(1, `${toCoreError(thrown).code}\n`);
}
