/** What a command of the command line is, and how all of them read their arguments and end. */
import type { Readable, Writable } from 'node:stream';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { Environment } from './config.ts';

/** The process, as a command sees it. */
export interface Io {
  env: Environment;
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable;
  /** Aborts when the person or the system asks the process to end. */
  signal: AbortSignal;
}

export const EXIT = { done: 0, failed: 1, usage: 2, denied: 3, interrupted: 130 } as const;

export interface Command {
  /** Returns the exit code. @throws CoreError, which is shown as one line, and UsageError. */
  run(args: string[], io: Io): Promise<number>;
}

/** The command line itself is wrong; shown together with how to get help. */
export class UsageError extends Error {}

/** `parseArgs`, strict, with errors that read as usage errors. */
export function readArgs<const T extends ParseArgsConfig>(args: string[], config: T) {
  try {
    return parseArgs({ ...config, args, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
