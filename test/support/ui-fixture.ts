/** What a build of the browser UI looks like from the server: a few files, one of them compressed beside itself. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';

export const SCRIPT = 'document.title = "a script that is long enough to be worth compressing";\n';
export const HASHED = 'app-1a2b3c4d.js';

/** @returns the directory of the build, beside a file that is none of its own. */
export function uiFixture(t: TestContext): string {
  const above = mkdtempSync(join(tmpdir(), 'pixir-test-'));
  t.after(() => rmSync(above, { recursive: true }));
  const directory = join(above, 'dist');
  mkdirSync(join(directory, 'assets'), { recursive: true });
  writeFileSync(join(above, 'secret.js'), 'secret');
  writeFileSync(join(directory, 'secret.js'), 'secret');
  writeFileSync(join(directory, 'index.html'), '<!doctype html><title>Pixir</title>');
  writeFileSync(join(directory, 'sw.js'), '// a service worker');
  writeFileSync(join(directory, 'assets', 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(directory, 'assets', 'app.map'), '{}');
  writeFileSync(join(directory, 'assets', HASHED), SCRIPT);
  writeFileSync(join(directory, 'assets', `${HASHED}.br`), brotliCompressSync(SCRIPT));
  writeFileSync(join(directory, 'assets', `${HASHED}.gz`), gzipSync(SCRIPT));
  return directory;
}
