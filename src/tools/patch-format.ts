/**
 * The patch format that models are trained on ("*** Begin Patch"): reading it, and applying its hunks to a text. Pure;
 * a patch that does not fit is refused whole and nothing is guessed beyond white space.
 */
import { CoreError } from '../core/errors.ts';
import { oneLine } from './presentation.ts';

export interface Hunk {
  /** Lines after `@@`: to be found first, in order, each after the one before. */
  anchors: string[];
  lines: { op: ' ' | '-' | '+'; text: string }[];
  /** The hunk's lines are the last of the file. */
  atEnd: boolean;
}

export type FileChange =
  | { type: 'add'; path: string; text: string }
  | { type: 'delete'; path: string }
  | { type: 'update'; path: string; moveTo: string | undefined; hunks: Hunk[] };

const HEADER = /^\*\*\* (Add|Delete|Update) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;
const END_OF_FILE = '*** End of File';
/** Some models write `@@ -1,3 +1,4 @@ name`; the numbers are not to be trusted, the name is. */
const LINE_NUMBERS = /^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?/;

/** A patch as lines, with the place reached so far. */
interface Cursor {
  lines: readonly string[];
  at: number;
}

/** The paths that a patch names, read without judging it. */
export function patchPaths(patch: string): string[] {
  const named = patch.split('\n').flatMap((line) => HEADER.exec(line.trim())?.[2] ?? MOVE.exec(line.trim())?.[1] ?? []);
  return [...new Set(named)];
}

/** @throws CoreError `patch_failed`. */
export function parsePatch(patch: string): FileChange[] {
  const lines = patch.trim().split(/\r?\n/);
  if (lines.at(0)?.trim() !== '*** Begin Patch') throw malformed(1, 'the patch must begin with *** Begin Patch');
  if (lines.at(-1)?.trim() !== '*** End Patch') throw malformed(lines.length, 'the patch must end with *** End Patch');
  const cursor: Cursor = { lines: lines.slice(0, -1), at: 1 };
  const changes: FileChange[] = [];
  while (cursor.at < cursor.lines.length) {
    if (cursor.lines[cursor.at]?.trim() === '') cursor.at++;
    else changes.push(parseChange(cursor));
  }
  if (changes.length === 0) throw malformed(1, 'the patch is empty');
  return changes;
}

function parseChange(cursor: Cursor): FileChange {
  const [, kind, path] = HEADER.exec(cursor.lines[cursor.at]?.trim() ?? '') ?? [];
  if (path === undefined) throw malformed(cursor.at + 1, 'expected *** Add File, *** Update File or *** Delete File');
  cursor.at++;
  if (kind === 'Delete') return { type: 'delete', path };
  if (kind === 'Add') return { type: 'add', path, text: parseNewText(cursor) };
  const moveTo = MOVE.exec(cursor.lines[cursor.at]?.trim() ?? '')?.[1];
  if (moveTo !== undefined) cursor.at++;
  const hunks = parseHunks(cursor);
  if (hunks.length === 0 && moveTo === undefined) throw malformed(cursor.at, `no change for ${path}`);
  return { type: 'update', path, moveTo, hunks };
}

function parseNewText(cursor: Cursor): string {
  const added: string[] = [];
  for (let line = cursor.lines[cursor.at]; line?.startsWith('+'); line = cursor.lines[++cursor.at]) {
    added.push(`${line.slice(1)}\n`);
  }
  return added.join('');
}

function parseHunks(cursor: Cursor): Hunk[] {
  const hunks: Hunk[] = [];
  while (cursor.at < cursor.lines.length && !HEADER.test(cursor.lines[cursor.at] ?? '')) {
    const hunk: Hunk = { anchors: parseAnchors(cursor), lines: [], atEnd: false };
    parseLines(cursor, hunk);
    if (hunk.lines.length > 0) hunks.push(hunk);
    else if (hunk.anchors.length > 0) throw malformed(cursor.at, 'a hunk without lines');
  }
  return hunks;
}

function parseAnchors(cursor: Cursor): string[] {
  const anchors: string[] = [];
  for (let line = cursor.lines[cursor.at]; line?.startsWith('@@'); line = cursor.lines[++cursor.at]) {
    anchors.push(line.slice(2).replace(/^ /, '').replace(LINE_NUMBERS, ''));
  }
  return anchors.filter((anchor) => anchor.trim() !== '');
}

/** Bare lines before the next section belong to the patch, not to the file: a blank line of the file has its space. */
function parseLines(cursor: Cursor, hunk: Hunk): void {
  const bare = readLines(cursor, hunk);
  if (!hunk.atEnd && bare > 0) hunk.lines.splice(-bare);
}

/** @returns how many of the last lines were bare. */
function readLines(cursor: Cursor, hunk: Hunk): number {
  let bare = 0;
  for (; cursor.at < cursor.lines.length; cursor.at++) {
    const line = cursor.lines[cursor.at] ?? '';
    if (line.startsWith('@@') || HEADER.test(line)) return bare;
    if (line.trim() === END_OF_FILE) {
      hunk.atEnd = true;
      cursor.at++;
      return bare;
    }
    bare = line === '' ? bare + 1 : 0;
    const op = line === '' ? ' ' : line[0];
    if (op !== ' ' && op !== '-' && op !== '+') {
      throw malformed(cursor.at + 1, 'a line of a hunk begins with a space, + or -');
    }
    hunk.lines.push({ op, text: line.slice(1) });
  }
  return bare;
}

/** The text with the hunks applied, each after the one before. Keeps the line ends of the text. */
export function applyHunks(path: string, text: string, hunks: readonly Hunk[]): string {
  const end = /\r\n/.test(text) && !/(^|[^\r])\n/.test(text) ? '\r\n' : '\n';
  const lines = text.split(end);
  const closed = lines.at(-1) === '';
  if (closed) lines.pop();
  const result: string[] = [];
  let done = 0;
  hunks.forEach((hunk, index) => {
    const start = findHunk(lines, hunk, done);
    if (start === undefined) throw noMatch(path, index + 1, hunk);
    result.push(...lines.slice(done, start));
    done = start;
    for (const { op, text: line } of hunk.lines) {
      if (op === '+') result.push(line);
      else if (op === ' ') result.push(lines[done++] ?? '');
      else done++;
    }
  });
  result.push(...lines.slice(done));
  return result.length === 0 ? '' : result.join(end) + (closed ? end : '');
}

function findHunk(lines: readonly string[], hunk: Hunk, from: number): number | undefined {
  let start = from;
  for (const anchor of hunk.anchors) {
    const found = seek(lines, [anchor], start);
    if (found === undefined) return undefined;
    start = found + 1;
  }
  const wanted = hunk.lines.filter(({ op }) => op !== '+').map(({ text }) => text);
  if (wanted.length === 0) return hunk.anchors.length > 0 && !hunk.atEnd ? start : lines.length;
  return seek(lines, wanted, hunk.atEnd ? Math.max(start, lines.length - wanted.length) : start);
}

/** The first place where all the lines stand, exactly if possible, else but for white space at their ends. */
function seek(lines: readonly string[], wanted: readonly string[], from: number): number | undefined {
  const looks = [(line: string) => line, (line: string) => line.trimEnd(), (line: string) => line.trim()];
  for (const look of looks) {
    const found = search(lines, wanted.map(look), from, look);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** After Knuth, Morris and Pratt, in linear time: a hostile patch could make a plain search take minutes. */
function search(
  lines: readonly string[],
  wanted: readonly string[],
  from: number,
  look: (line: string) => string,
): number | undefined {
  /** For each length that matched: how much of it still matches when the next line does not. */
  const shorter = [0];
  const extend = (matched: number, line: string): number => {
    let length = matched;
    while (length > 0 && wanted[length] !== line) length = shorter[length - 1] ?? 0;
    return wanted[length] === line ? length + 1 : 0;
  };
  for (const line of wanted.slice(1)) shorter.push(extend(shorter.at(-1) ?? 0, line));
  for (let at = from, matched = 0; at < lines.length; at++) {
    matched = extend(matched, look(lines[at] ?? ''));
    if (matched === wanted.length) return at + 1 - matched;
  }
  return undefined;
}

function malformed(line: number, reason: string): CoreError {
  return new CoreError('patch_failed', `line ${line}: ${reason}`, { line });
}

function noMatch(path: string, number: number, { anchors, lines }: Hunk): CoreError {
  const first = lines.find(({ op }) => op !== '+')?.text ?? anchors[0] ?? '';
  return new CoreError('patch_failed', `hunk ${number} of ${oneLine(path)} does not match the file`, {
    path,
    hunk: number,
    first_line: first.slice(0, 200),
  });
}
