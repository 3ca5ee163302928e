/**
 * Searching with ripgrep: the bundled binary, without anybody's configuration, inside one directory. It never follows
 * a symlink, and it is stopped as soon as it has found enough.
 */
import { basename, dirname, relative } from 'node:path';
import { CoreError } from '../core/errors.ts';
import type { ToolContext } from '../core/tool.ts';
import { OUTPUT_BYTES } from './bounded.ts';
import { oneLine } from './presentation.ts';
import { runProcess } from './process.ts';
import { CREDENTIALS, checkAborted, isInside, SERVER_FILES } from './workspace.ts';

const TIMEOUT_MS = 60_000;
const MAX_ERROR_BYTES = 4096;
/** Hidden files count, git's own do not, and a .gitignore holds also where there is no repository. */
const ALWAYS = ['--no-config', '--no-messages', '--color=never', '--hidden', '--no-require-git', '--sort=path'];

/** Git's own files, and the credentials that the other tools do not read either. */
const NEVER = ['.git', ...CREDENTIALS];

interface Search extends Pick<ToolContext, 'signal'> {
  /** What a line of output ends with. */
  lineEnd?: '\n' | '\0';
  /** How much output is enough, in characters. */
  maxLength?: number;
  /** What was found by then is all; without it a search that takes too long fails. */
  enoughAfterMs?: number;
}

/**
 * Lines of output, at most `limit` and one more, which shows that there were more.
 * @throws CoreError `invalid_args` for a bad pattern, `cancelled`, `timeout` or `command_failed`.
 */
export async function ripgrep(
  args: readonly string[],
  cwd: string,
  limit: number,
  { signal, lineEnd = '\n', maxLength = 2 * OUTPUT_BYTES, enoughAfterMs }: Search,
): Promise<string[]> {
  const { rgPath } = await import('@vscode/ripgrep');
  const enough = new AbortController();
  const decoder = new TextDecoder();
  let found = '';
  let complaint = '';
  let lineCount = 0;
  const end = await runProcess({
    file: rgPath,
    args: [...ALWAYS, ...args],
    cwd,
    env: {},
    signal: AbortSignal.any([signal, enough.signal]),
    timeoutMs: enoughAfterMs ?? TIMEOUT_MS,
    onOutput(chunk, from) {
      if (from === 'stderr') {
        if (complaint.length < MAX_ERROR_BYTES) complaint += chunk.toString();
      } else if (!enough.signal.aborted) {
        const text = decoder.decode(chunk, { stream: true });
        found += text;
        lineCount += text.split(lineEnd).length - 1;
        if (lineCount > limit || found.length > maxLength) enough.abort();
      }
    },
  });
  checkAborted(signal);
  if (end.by === 'timeout' && enoughAfterMs === undefined)
    throw new CoreError('timeout', 'the search took too long; narrow it', { timeout_ms: TIMEOUT_MS });
  if (complaint !== '' && end.by === 'itself') throw badPattern(complaint);
  return lines(found, lineEnd, enough.signal.aborted || end.by === 'timeout');
}

/** A last line without its end was cut by stopping early, unless the file itself ends that way. */
function lines(found: string, lineEnd: string, stopped: boolean): string[] {
  const all = found.split(lineEnd);
  const last = all.pop();
  if (last && !stopped) all.push(last);
  return all.map((line) => line.replace(/^\.\//, ''));
}

/** With `--no-messages`, ripgrep only complains of what it was asked. */
function badPattern(complaint: string): CoreError {
  const told = complaint.trim().split('\n');
  const reason = told.find((line) => line.startsWith('error: '))?.slice('error: '.length) ?? told[0] ?? '';
  return new CoreError('invalid_args', `bad pattern: ${oneLine(reason.replace(/^rg: /, ''))}`);
}

/**
 * The options for a file pattern in this directory. One that matches everything is left out: it would bring back what
 * git ignores.
 *
 * @param hidden absolute real paths that no search shows, whatever it asks for.
 */
export function globOptions(pattern: string | undefined, directory: string, hidden: readonly string[]): string[] {
  const wanted = pattern === undefined || /^[*/]*$/.test(pattern) ? [] : [`--glob=${pattern}`];
  // Of `a/b` a search in `a` sees only `b`.
  const begun = NEVER.filter((entry) => directory.toLowerCase().endsWith(`/${dirname(entry)}`));
  const inHere = hidden.flatMap((path) => {
    if (path === directory) return SERVER_FILES.map((name) => `/${name}`);
    return isInside(directory, path) ? [`/${relative(directory, path)}`] : [];
  });
  const names = [...NEVER.map((entry) => `**/${entry}`), ...begun.map((entry) => `/${basename(entry)}`)];
  return [...wanted, ...names.concat(inHere.map(literally)).map((entry) => `--iglob=!${entry}`)];
}

/** As a pattern that matches nothing else. */
function literally(path: string): string {
  return path.replaceAll(/[\\*?[\]{}!]/g, '\\$&');
}
