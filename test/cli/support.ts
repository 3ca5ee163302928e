/** Directories that go away, and real processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

export const ROOT = join(import.meta.dirname, '..', '..');

export function temporaryDirectory(t: TestContext): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'pixir-test-')));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface ProcessOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string | Buffer;
}

/** Runs a program to its end. */
export async function run(command: string, args: readonly string[], options: ProcessOptions = {}): Promise<Outcome> {
  const child = spawn(command, args, { cwd: options.cwd, env: options.env ?? process.env });
  // A program that ends early closes its input; what it said is what counts.
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, signal, stdout, stderr };
}

/** Runs a piece of TypeScript's JavaScript as a module of its own process; imports name files under src. */
export function runModule(code: string, options: ProcessOptions = {}): Promise<Outcome> {
  const absolute = code.replaceAll("'src/", `'${ROOT}/src/`);
  return run(process.execPath, ['--input-type=module', '-e', absolute], options);
}
