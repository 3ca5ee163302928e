/** The product as real processes: what a user starts, with an environment that holds nothing of the tester's. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const REPOSITORY = join(import.meta.dirname, '..', '..');
/** One compile cache for all of them: starting is most of what these tests cost. */
const CACHE = join(REPOSITORY, 'node_modules', '.cache');
const PIXIR = join(REPOSITORY, 'bin', 'pixir');

export interface RunningProcess extends AsyncDisposable {
  child: ChildProcess;
  /** What it has said on stderr so far. */
  stderr(): string;
  /** Waits for its end. */
  exit(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export type Variables = Record<string, string>;

/** The environment of every process that a test starts. */
export function environmentFor(dataDir: string, extra: Variables = {}): Variables {
  // Not every machine has bubblewrap, and here home, data and workspace are often one: tests of the sandbox ask for it.
  const settings = { PIXIR_DATA_DIR: dataDir, PIXIR_LOG_LEVEL: 'warn', PIXIR_SANDBOX: 'off' };
  const own = { HOME: dataDir, XDG_CACHE_HOME: CACHE, ...settings };
  return { PATH: process.env.PATH ?? '', ...own, ...extra };
}

/** Starts `pixir` with piped streams, from the checkout unless told otherwise. It is killed with the test, if it still runs then. */
export function startPixir(args: string[], env: Variables, cwd?: string, bin = PIXIR): RunningProcess {
  const child = spawn(process.execPath, [bin, ...args], { env, stdio: 'pipe', ...(cwd ? { cwd } : {}) });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exited = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  exited.catch(() => undefined);
  const exit = async () => {
    const [code, signal] = await exited;
    return { code, signal };
  };
  return {
    child,
    stderr: () => stderr,
    exit,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
    },
  };
}

export interface RunningServer extends RunningProcess {
  url: string;
  token: string;
}

/** Starts `pixir serve` on a free port and waits until it listens. */
export async function startServer(
  dataDir: string,
  extra: Variables = {},
  args: string[] = [],
  bin = PIXIR,
): Promise<RunningServer> {
  const server = startPixir(['serve', '--port', '0', ...args], environmentFor(dataDir, extra), undefined, bin);
  const [first] = await Promise.race([
    once(createInterface(server.child.stdout as NodeJS.ReadableStream), 'line') as Promise<[string]>,
    server.exit().then(({ code }) => Promise.reject(new Error(`serve ended with ${code}: ${server.stderr()}`))),
  ]);
  const url = first.replace(/^listening on /, '');
  const token = (await readFile(join(dataDir, 'token'), 'utf8')).trim();
  return { ...server, url, token };
}

/** Runs `pixir` to its end and returns what it printed. */
export async function runPixir(args: string[], env: Variables, input = '', cwd?: string, bin = PIXIR) {
  await using running = startPixir(args, env, cwd, bin);
  let stdout = '';
  running.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  running.child.stdin?.end(input);
  const { code } = await running.exit();
  return { code, stdout, stderr: running.stderr() };
}
