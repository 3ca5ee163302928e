/**
 * `npm run nightly`: what takes longer than a commit may wait. The same suites with their full numbers (thousands of
 * schedules, hundreds of kills, every cut), the power cuts, which need strace, a client of other people, and the mutants.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const TEST = ['--test', '--test-isolation=none', '--test-timeout=1800000'];
const env = { ...process.env, PIXIR_NIGHTLY: '1' };

const steps: string[][] = [
  [...TEST, 'test/race/**/*.test.ts'],
  [...TEST, 'test/attack/**/*.test.ts', 'test/core/limits.test.ts'],
  [...TEST, 'test/processes.test.ts'],
  [...TEST, 'test/nightly/*.nightly.ts'],
  ['scripts/mutants.ts'],
];

const failed = steps.filter((args) => {
  console.log(`\n# ${args.at(-1)}`);
  return spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' }).status !== 0;
});
for (const args of failed) console.log(`FAILED: ${args.at(-1)}`);
process.exitCode = failed.length === 0 ? 0 : 1;
