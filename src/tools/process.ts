/**
 * Running one command to its end: its own process group, no stdin, output handed on as it comes. When `runProcess`
 * resolves, nothing of the command is left: no process, no open pipe, no timer.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { CoreError } from '../core/errors.ts';
import { endTree, MARKER, treeOf } from './process-tree.ts';
import { checkAborted, errno } from './workspace.ts';

/** How long to wait for the last output once nothing is left that could write any. */
const DRAIN_MS = 1_000;

export interface Command {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
  timeoutMs: number;
  /** The program is a sandbox: what is inside is asked to end, and then it ends by itself. */
  confined?: boolean;
  onOutput(chunk: Buffer, from: 'stdout' | 'stderr'): void;
}

export interface CommandEnd {
  /** What ended it: itself, its time limit, or the signal. */
  by: 'itself' | 'timeout' | 'abort';
  /** Null when a signal killed it. */
  code: number | null;
  killedBy: string | null;
  /** How many processes it left running; they were ended. Not known of a sandbox: it takes them with it. */
  leftovers: number;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** @throws CoreError `cancelled` when the signal is already aborted, `command_failed` when it cannot be started. */
export async function runProcess(command: Command): Promise<CommandEnd> {
  checkAborted(command.signal);
  const marker = randomBytes(8).toString('hex');
  const child = start(command, marker);
  child.stdout.on('data', (chunk: Buffer) => command.onOutput(chunk, 'stdout'));
  child.stderr.on('data', (chunk: Buffer) => command.onOutput(chunk, 'stderr'));
  const closed = new Promise((resolve) => child.once('close', resolve));
  if (child.pid === undefined) throw notStarted((await once(child, 'error'))[0]);
  const tree = treeOf(child.pid, marker, command.confined);
  const by = await firstEnd(child, command);
  const left = await endTree(tree);
  await drained(child, closed);
  const leftovers = by === 'itself' && !command.confined ? left : 0;
  return { by, code: child.exitCode, killedBy: child.signalCode, leftovers };
}

function start({ file, args, cwd, env }: Command, marker: string): Child {
  try {
    return spawn(file, args, {
      cwd,
      env: { ...env, [MARKER]: marker },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (cause) {
    throw notStarted(cause);
  }
}

async function firstEnd(child: Child, { signal, timeoutMs }: Command): Promise<CommandEnd['by']> {
  const { promise, resolve } = Promise.withResolvers<CommandEnd['by']>();
  const onAbort = () => resolve('abort');
  const timer = setTimeout(resolve, timeoutMs, 'timeout');
  child.once('exit', () => resolve('itself'));
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Waits for the end of the output. Someone may hold the pipe whom we cannot see: then what came is all there is. */
async function drained(child: Child, closed: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, DRAIN_MS);
  await Promise.race([closed, promise]);
  clearTimeout(timer);
  child.stdout.destroy();
  child.stderr.destroy();
}

function notStarted(cause: unknown): CoreError {
  const message = `the command could not be started: ${errno(cause) ?? 'unknown error'}`;
  return new CoreError('command_failed', message, {}, { cause });
}
