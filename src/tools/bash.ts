/**
 * `bash`: runs a shell command in the workspace. Whatever the command starts ends with it: nothing outlives the call,
 * nothing of this server's environment reaches it, and no amount of output fills the memory.
 */
import * as z from 'zod';
import { CoreError } from '../core/errors.ts';
import { defineTool, type Tool, type ToolResult } from '../core/tool.ts';
import { createOutputBuffer } from './bounded.ts';
import { childEnv, pathOutside, type Variables } from './child-env.ts';
import { runInTerminal } from './client-terminal.ts';
import { oneLine, shortTitle } from './presentation.ts';
import { type CommandEnd, runProcess } from './process.ts';
import type { Sandbox } from './sandbox.ts';
import { isSafeCommand } from './shell-safety.ts';
import { checkAborted } from './workspace.ts';

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const PROGRESS_MS = 100;

/** One pipe for both outputs keeps their order; `exec` keeps the shell itself the process that was started. */
const SHELL = 'if command -v bash >/dev/null; then exec bash -c "$1" 2>&1; else exec sh -c "$1" 2>&1; fi';

export function createBash(own: Variables, sandbox: Sandbox): Tool {
  const env = childEnv(own);
  return defineTool({
    name: 'bash',
    description:
      'Run a shell command in the workspace. No stdin. Processes left running are ended. Prefer the other tools for files.',
    kind: 'execute',
    effect: ({ command }) => (isSafeCommand(command) ? 'read' : 'execute'),
    schema: z.strictObject({
      command: z.string().min(1),
      timeout_ms: z.int().min(0).optional().describe('120000 by default, 600000 at most'),
    }),
    title: ({ command }) => shortTitle('bash', command),
    rule: ({ command }) => ({ key: { command }, text: `with ${JSON.stringify(command)}` }),
    async run({ command, timeout_ms }, context) {
      const { workspace, signal, progress, client } = context;
      checkCommand(command, signal);
      const timeoutMs = Math.min(timeout_ms || DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
      // A command that is confined here is not let out for being seen better.
      if (client?.openTerminal && (await sandbox.status()).kind === 'none') {
        const there = await runInTerminal(command, timeoutMs, context);
        if (there) return resultOf(there.end, report(there.end, there.output, timeoutMs));
      }
      const output = createOutputBuffer();
      const complaints = createOutputBuffer();
      const show = throttled(() => progress(output.tail()));
      const onOutput = (chunk: Buffer, from: 'stdout' | 'stderr') => {
        if (from === 'stderr') return complaints.write(chunk);
        output.write(chunk);
        show.soon();
      };
      const PATH = pathOutside(context, env.PATH);
      const shell = { file: '/bin/sh', args: ['-c', SHELL, 'sh', command], env: { ...env, PATH } };
      using program = await sandbox.confine(shell, context);
      try {
        const end = await runProcess({ ...program, cwd: workspace, signal, timeoutMs, onOutput });
        checkStarted(complaints.text());
        return resultOf(end, report(end, output.text(), timeoutMs, program.hint));
      } finally {
        show.stop();
      }
    },
    async dryRun({ command }, { signal }) {
      checkCommand(command, signal);
      return { ok: true, output: `would run: ${oneLine(command)}` };
    },
  });
}

function checkCommand(command: string, signal: AbortSignal): void {
  checkAborted(signal);
  if (command.includes('\0')) throw new CoreError('invalid_args', 'the command holds a NUL byte');
}

/** The command's own errors are in its output; the rest is of what starts it. A shell may also warn, of a locale say. */
function checkStarted(complaints: string): void {
  const failure = /^(?:bwrap|sh): (?!warning).*/m.exec(complaints)?.[0];
  if (failure) throw new CoreError('command_failed', `the command was not started (${oneLine(failure)})`);
}

function resultOf({ code }: CommandEnd, output: string): ToolResult {
  return { ok: code === 0, output, exitCode: code };
}

/** The output and, where it says more, how the command ended. @throws CoreError `timeout` or `cancelled`. */
function report(end: CommandEnd, output: string, timeoutMs: number, hint?: string): string {
  const { by, code, killedBy, leftovers } = end;
  if (by === 'abort') throw new CoreError('cancelled', 'the command was cancelled');
  if (by === 'timeout') {
    const message = `the command was stopped after ${timeoutMs} ms`;
    throw new CoreError('timeout', message, { timeout_ms: timeoutMs, partial_output: output });
  }
  const notes: string[] = [];
  if (leftovers > 0) notes.push(`[ended ${leftovers} process(es) that were still running]`);
  if (killedBy) notes.push(`[killed by signal ${oneLine(killedBy)}]`);
  else if (code !== 0) notes.push(`[exit code ${code ?? 'unknown'}]`);
  if (code !== 0 && hint) notes.push(`[${hint}]`);
  if (notes.length === 0) return output;
  return [output === '' || output.endsWith('\n') ? output : `${output}\n`, notes.join('\n')].join('');
}

/** Calls `show` at most once in a while, and once more for what came in between. */
function throttled(show: () => void) {
  let timer: NodeJS.Timeout | undefined;
  let shownAt = Number.NEGATIVE_INFINITY;
  const now = () => {
    timer = undefined;
    shownAt = performance.now();
    show();
  };
  return {
    soon() {
      if (timer) return;
      const wait = shownAt + PROGRESS_MS - performance.now();
      if (wait <= 0) now();
      else timer = setTimeout(now, wait);
    },
    stop: () => clearTimeout(timer),
  };
}
