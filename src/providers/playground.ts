/**
 * The sample project of the scripted demonstration: a few lines of JavaScript with one bug and a test that finds it.
 * It needs nothing but Node.
 */

/** How the demonstration knows its own project from somebody's file of the same name. */
export const MARK = 'Pixir sample project';
export const MODULE = 'sum.mjs';
export const TEST = 'sum.test.mjs';
export const PASSED = 'PASS: sum';
export const FAILED = 'FAIL: sum';
export const BUG = 'let i = 1;';
export const MENDED = 'let i = 0;';

export const playgroundFiles: Record<string, string> = {
  'README.md': `# ${MARK}

A module that adds numbers, and a test for it that fails. Any prompt makes the demonstration find out why.

    node ${TEST}
`,
  [MODULE]: `// ${MARK}: adds numbers.

export function sum(numbers) {
  let total = 0;
  for (${BUG} i < numbers.length; i += 1) {
    total += numbers[i];
  }
  return total;
}
`,
  [TEST]: `// ${MARK}: run it with \`node ${TEST}\`.

import assert from 'node:assert/strict';
import { sum } from './${MODULE}';

assert.equal(sum([]), 0, '${FAILED}([]) should be 0');
assert.equal(sum([1, 2, 3]), 6, '${FAILED}([1, 2, 3]) should be 6');
console.log('${PASSED}([]) and sum([1, 2, 3])');
`,
};
