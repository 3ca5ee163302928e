/**
 * A command in a terminal of the client's, where the person sees it run. The terminal is let go of however the call ends;
 * what may have been started is never run again.
 */
import { stripVTControlCharacters } from 'node:util';
import type { ClientTerminal } from '../core/client-services.ts';
import { CoreError } from '../core/errors.ts';
import type { ToolContext } from '../core/tool.ts';
import { createOutputBuffer, OUTPUT_BYTES } from './bounded.ts';
import type { CommandEnd } from './process.ts';
import { checkAborted } from './workspace.ts';

/**
 * Undefined when the client offers no terminal or refused this one: then nothing has run.
 *
 * @throws CoreError `outcome_unknown`, `cancelled`.
 */
export async function runInTerminal(
  command: string,
  timeoutMs: number,
  { workspace, signal, progress, client }: ToolContext,
): Promise<{ end: CommandEnd; output: string } | undefined> {
  const wanted = { command: 'bash', args: ['-c', command], cwd: workspace, outputBytes: OUTPUT_BYTES };
  using terminal = await client?.openTerminal?.(wanted, signal).catch((error) => {
    if (error instanceof CoreError && error.code === 'client_refused') return undefined;
    throw lost(signal);
  });
  if (!terminal) return undefined;
  progress(terminal);
  const end = await endOf(terminal, timeoutMs, signal);
  return { end, output: end.by === 'abort' ? '' : await outputOf(terminal) };
}

async function endOf(terminal: ClientTerminal, timeoutMs: number, signal: AbortSignal): Promise<CommandEnd> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  try {
    const exit = await terminal.exited(AbortSignal.any([signal, limit.signal]));
    return { by: 'itself', ...exit, leftovers: 0 };
  } catch {
    if (!signal.aborted && !limit.signal.aborted) throw lost(signal);
    await terminal.kill().catch(() => undefined);
    return { by: signal.aborted ? 'abort' : 'timeout', code: null, killedBy: null, leftovers: 0 };
  } finally {
    clearTimeout(timer);
  }
}

/** As plain text: a terminal is also told colours, and how to end a line. */
async function outputOf(terminal: ClientTerminal): Promise<string> {
  const kept = await terminal.output().catch(() => undefined);
  if (!kept) return '[the client did not hand over the output]\n';
  const buffer = createOutputBuffer();
  buffer.write(Buffer.from(stripVTControlCharacters(kept.text).replaceAll('\r\n', '\n')));
  return kept.truncated ? `…[earlier output omitted]…\n${buffer.text()}` : buffer.text();
}

function lost(signal: AbortSignal): CoreError {
  checkAborted(signal);
  return new CoreError('outcome_unknown', 'the command may have run in the terminal of the client, which was lost');
}
