/** Reads a configuration from given sources, in a data directory of its own. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type ConfigInput, type Environment, loadConfig } from '../../src/cli/config.ts';
import { CoreError } from '../../src/core/errors.ts';
import { temporaryDirectory } from './support.ts';

export interface Given extends Partial<ConfigInput> {
  env?: Environment;
  /** The content of config.json: text as it is, anything else as JSON. */
  file?: unknown;
}

export function load(t: TestContext, { env = {}, file, ...input }: Given = {}) {
  const dataDir = temporaryDirectory(t);
  const path = join(dataDir, 'config.json');
  if (file !== undefined) writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file));
  const config = () =>
    loadConfig({ command: 'serve', cwd: '/somewhere', ...input }, { PIXIR_DATA_DIR: dataDir, ...env });
  return { dataDir, path, config };
}

export function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof CoreError);
    assert.equal(error.code, 'config_invalid');
    assert.ok(!error.message.includes('\n'));
    return error.message;
  }
  assert.fail('nothing was thrown');
}
