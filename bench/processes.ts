/**
 * Real processes with an environment of their own, and one temporary directory. Whatever way the benchmark ends, all of
 * it ends with it.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const REPOSITORY = join(import.meta.dirname, '..');

export type Variables = Record<string, string>;

export interface Running {
  child: ChildProcessWithoutNullStreams;
  /** Ends it the way its user would, and waits. */
  stop(): Promise<void>;
}

const children = new Set<ChildProcessWithoutNullStreams>();
let scratch: string | undefined;

/** A fresh directory inside the one that is removed at the end. */
export function scratchDirectory(name: string): string {
  scratch ??= mkdtempSync(join(tmpdir(), 'pixir-bench-'));
  return mkdtempSync(join(scratch, `${name}-`));
}

/** Must be called once, before anything is started. */
export function cleanUpAtExit(): void {
  process.on('exit', () => {
    for (const child of children) child.kill('SIGKILL');
    if (scratch) rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
}

/** The environment of everything that is started: nothing of the user's, and `home` for caches and data. */
export function environmentOf(home: string, extra: Variables = {}): Variables {
  mkdirSync(home, { recursive: true });
  return { PATH: process.env.PATH ?? '', HOME: home, ...extra };
}

/**
 * Starts Node with these arguments.
 *
 * @param endsByItself when it does not, its end is the end of the benchmark: somebody would wait for it forever.
 */
export function startNode(args: readonly string[], env: Variables, endsByItself = false): Running {
  const child = spawn(process.execPath, args, { env, stdio: 'pipe' });
  children.add(child);
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-4_000);
  });
  // A pipe whose reader has gone is no reason to stop measuring; an early end shows in the exit code.
  child.stdin.on('error', () => undefined);
  const ended = once(child, 'close').then(() => children.delete(child));
  let stopping = false;
  child.once('exit', (code, signal) => {
    if (stopping || (endsByItself && code === 0)) return;
    process.stderr.write(`bench: ${args.join(' ')} ended with ${code ?? signal}\n${complaint}\n`);
    process.exit(1);
  });
  return {
    child,
    async stop() {
      stopping = true;
      child.stdin.end();
      child.kill('SIGTERM');
      const last = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(last);
    },
  };
}

export async function firstLine({ child }: Running): Promise<string> {
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return line;
}

/** Resident memory in MiB. */
export function residentMemory(pid: number | undefined): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

/** Processor time used so far, in milliseconds; the system counts in steps of ten. */
export function processorTime(pid: number | undefined): number {
  // After the name, which may hold anything, and the state.
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}

/** Ends this process when whoever started it has gone, for the programs of the benchmark itself. */
export function endWithParent(): void {
  process.stdin.on('end', () => process.exit(0)).resume();
}
