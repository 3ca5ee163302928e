/**
 * Two texts compared by line, for drawing. Pure. It stops after a few milliseconds: a page must not stand still for a
 * diff, and what was not compared is said to be so.
 */
import { diffArrays } from 'diff';

export interface Line {
  kind: 'same' | 'add' | 'del';
  /** Without its end. */
  text: string;
  /** From 1; of the old text and of the new one. */
  old?: number;
  now?: number;
  /** The text ends here without a line end. */
  unended?: true;
}

export type Comparison =
  | { kind: 'lines'; lines: readonly Line[]; added: number; removed: number }
  /** They differ too much: `lines` are those of the new text. */
  | { kind: 'too_large'; lines: readonly Line[] };

export interface Change {
  oldText?: string | null | undefined;
  newText: string;
}

const TIMEOUT_MS = 25;
const MOST_EDITS = 4_000;
const cache = new WeakMap<Change, Comparison>();

/** The comparison of this change, made once for each object. */
export function comparisonOf(change: Change): Comparison {
  const made = cache.get(change) ?? compare(change.oldText ?? '', change.newText);
  cache.set(change, made);
  return made;
}

export function compare(oldText: string, newText: string, timeout = TIMEOUT_MS): Comparison {
  const isCrlf = endsAllCrlf(oldText) && endsAllCrlf(newText);
  const before = splitLines(oldText, isCrlf);
  const after = splitLines(newText, isCrlf);
  const { start, end } = commonEnds(before, after);
  const beforeMiddle = before.slice(start, before.length - end);
  const afterMiddle = after.slice(start, after.length - end);
  const chunks = middle(beforeMiddle, afterMiddle, timeout);
  if (!chunks) return { kind: 'too_large', lines: numbered([{ kind: 'same', lines: after }]) };
  const lines = numbered([
    { kind: 'same', lines: before.slice(0, start) },
    ...chunks,
    { kind: 'same', lines: before.slice(before.length - end) },
  ]);
  const count = (kind: Line['kind']) => lines.reduce((sum, line) => sum + Number(line.kind === kind), 0);
  return { kind: 'lines', lines, added: count('add'), removed: count('del') };
}

interface Chunk {
  kind: Line['kind'];
  lines: readonly string[];
}

function middle(before: string[], after: string[], timeout: number): Chunk[] | undefined {
  if (before.length === 0 || after.length === 0) {
    return [
      { kind: 'del', lines: before },
      { kind: 'add', lines: after },
    ];
  }
  const found = diffArrays(before, after, { timeout, maxEditLength: MOST_EDITS });
  return found?.map(({ added, removed, value }) => ({ kind: added ? 'add' : removed ? 'del' : 'same', lines: value }));
}

function numbered(chunks: readonly Chunk[]): Line[] {
  const lines: Line[] = [];
  let old = 0;
  let now = 0;
  for (const { kind, lines: texts } of chunks)
    for (const whole of texts) {
      const isEnded = whole.endsWith('\n');
      const line: Line = { kind, text: isEnded ? whole.slice(0, -1) : whole };
      if (kind !== 'add') line.old = ++old;
      if (kind !== 'del') line.now = ++now;
      if (!isEnded) line.unended = true;
      lines.push(line);
    }
  return lines;
}

function commonEnds(before: readonly string[], after: readonly string[]): { start: number; end: number } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { start, end };
}

/** With their ends; a last line without one is another line than the same with one. */
function splitLines(text: string, isCrlf: boolean): string[] {
  const lines = (isCrlf ? text.replaceAll('\r\n', '\n') : text).split('\n');
  const last = lines.pop() ?? '';
  const ended = lines.map((line) => `${line}\n`);
  return last === '' ? ended : [...ended, last];
}

/** Where every line ends so, it is no news. */
function endsAllCrlf(text: string): boolean {
  return !/(?:^|[^\r])\n/.test(text);
}

/** A run of lines that is shown, or one that is folded away: indices into the lines. */
export interface Run {
  isFolded: boolean;
  from: number;
  to: number;
}

const CONTEXT = 3;
const WORTH_FOLDING = 4;

/** Folds what is far from every change. */
export function runsOf(lines: readonly Line[]): Run[] {
  const runs: Run[] = [];
  let at = 0;
  while (at < lines.length) {
    const isSame = lines[at]?.kind === 'same';
    let to = at;
    while (to < lines.length && (lines[to]?.kind === 'same') === isSame) to++;
    if (isSame) sameRun(runs, at, to, lines.length);
    else show(runs, at, to);
    at = to;
  }
  return runs;
}

function sameRun(runs: Run[], from: number, to: number, all: number): void {
  const foldFrom = from === 0 ? 0 : from + CONTEXT;
  const foldTo = to === all ? to : to - CONTEXT;
  const isFolded = foldTo - foldFrom >= WORTH_FOLDING;
  show(runs, from, isFolded ? foldFrom : to);
  if (!isFolded) return;
  runs.push({ isFolded: true, from: foldFrom, to: foldTo });
  show(runs, foldTo, to);
}

function show(runs: Run[], from: number, to: number): void {
  const last = runs.at(-1);
  if (from === to) return;
  if (last && !last.isFolded) last.to = to;
  else runs.push({ isFolded: false, from, to });
}

/** One row of a side by side view. */
export interface Pair {
  left?: Line;
  right?: Line;
}

/** Old beside new: of one change, the lines stand side by side in their order. */
export function pairsOf(lines: readonly Line[]): Pair[] {
  const pairs: Pair[] = [];
  let removed: Line[] = [];
  let added: Line[] = [];
  const endChange = () => {
    for (let row = 0; row < Math.max(removed.length, added.length); row++) {
      const left = removed[row];
      const right = added[row];
      pairs.push({ ...(left && { left }), ...(right && { right }) });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === 'del') removed.push(line);
    if (line.kind === 'add') added.push(line);
    if (line.kind !== 'same') continue;
    endChange();
    pairs.push({ left: line, right: line });
  }
  endChange();
  return pairs;
}
