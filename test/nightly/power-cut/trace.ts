/**
 * Runs a program under strace and reads what it did to the files of one directory. A call that it does not understand is
 * an error: passing over it would make the simulated disk lie.
 */
import { execFile, spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

export type Operation =
  | { kind: 'create'; path: string }
  | { kind: 'write'; path: string; at: number; bytes: Uint8Array }
  | { kind: 'truncate'; path: string; size: number }
  | { kind: 'unlink'; path: string }
  | { kind: 'sync'; path: string }
  /** Of the directory: of what was created and unlinked in it. */
  | { kind: 'sync names' }
  /** To whoever reads the standard output. */
  | { kind: 'say'; text: string };

/** All that could change a file, also what SQLite does not do today. Not every processor has those with `?`. */
const CALLS =
  '?open,openat,?creat,write,writev,pwrite64,pwritev,truncate,ftruncate,fallocate,fsync,fdatasync,' +
  '?unlink,unlinkat,?rename,renameat,renameat2';
const STRACE = ['-f', '--seccomp-bpf', '-qq', '-y', '-xx', '-s', '2000000', '-e', `trace=${CALLS}`];

/** Why nothing can be traced here; false when it can. */
export function cannotTrace(): string | false {
  const { error, status, stderr } = spawnSync('strace', [...STRACE, '-o', '/dev/null', 'true'], { encoding: 'utf8' });
  if (error) return `strace cannot be started: ${error.message}`;
  return status === 0 ? false : `strace cannot trace: ${stderr.trim()}`;
}

/** @param trace where the trace is written. @returns every operation on files of `dir`, in order. */
export async function traceNode(args: readonly string[], dir: string, trace: string): Promise<Operation[]> {
  await promisify(execFile)('strace', [...STRACE, '-o', trace, process.execPath, ...args]);
  const operations: Operation[] = [];
  for await (const call of calls(trace)) {
    const operation = operationOf(call, dir);
    if (operation) operations.push(operation);
  }
  return operations;
}

interface Call {
  name: string;
  args: string[];
  result: number;
}

/** The calls in the order in which they returned; strace cuts one in two when another thread comes between. */
async function* calls(trace: string): AsyncGenerator<Call> {
  const begun = new Map<string, string>();
  for await (const line of createInterface({ input: createReadStream(trace) })) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (text.endsWith(UNFINISHED)) {
      begun.set(thread, text.slice(0, -UNFINISHED.length));
      continue;
    }
    const whole = text.replace(/^<\.\.\. \w+ resumed>/, () => begun.get(thread) ?? '');
    const [, name, args, result] = /^(\w+)\((.*)\) += (-?\d+)/.exec(whole) ?? [];
    // What is left are the signals and the calls that the end of the process cut.
    if (name && args !== undefined) yield { name, args: args.split(', '), result: Number(result) };
  }
}

const UNFINISHED = ' <unfinished ...>';

function operationOf({ name, args, result }: Call, dir: string): Operation | undefined {
  const [first = '', second = '', third = '', fourth = ''] = args;
  if (name === 'write' && first.startsWith('1<')) return { kind: 'say', text: quoted(second).toString() };
  const path = args.map((arg) => quoted(arg).toString()).find((text) => text === dir || text.startsWith(`${dir}/`));
  // The -shm file is an index of the WAL, made anew by whoever opens the database first.
  if (result < 0 || path === undefined || path.endsWith('-shm')) return undefined;
  switch (name) {
    case 'openat':
      if (third.includes('O_TRUNC') && !third.includes('O_EXCL')) break;
      return third.includes('O_CREAT') ? { kind: 'create', path } : undefined;
    case 'pwrite64':
      return { kind: 'write', path, at: Number(fourth), bytes: quoted(second).subarray(0, result) };
    case 'ftruncate':
      return { kind: 'truncate', path, size: Number(second) };
    case 'unlink':
    case 'unlinkat':
      return { kind: 'unlink', path };
    case 'fsync':
    case 'fdatasync':
      return path === dir ? { kind: 'sync names' } : { kind: 'sync', path };
  }
  throw new Error(`the simulated disk does not know ${name} of ${path}`);
}

/** The bytes in `"…"` or `3<…>`, all of which strace writes in hexadecimal. */
function quoted(arg: string): Buffer {
  const [, hex = ''] = /[<"](.*)[>"]/.exec(arg) ?? [];
  return Buffer.from(hex.replaceAll('\\x', ''), 'hex');
}
