/** A process that claims a data directory and holds it until it is killed or its stdin ends. */
import { writeSync } from 'node:fs';
import { toCoreError } from '../../src/core/errors.ts';
import { claimDataDir } from '../../src/store/data-dir.ts';

const [dir = ''] = process.argv.slice(2);

try {
  claimDataDir(dir).announce('http://127.0.0.1:7494');
  writeSync(1, 'held\n');
  process.stdin.resume();
} catch (thrown) {
  writeSync(1, `${toCoreError(thrown).code}\n`);
}
