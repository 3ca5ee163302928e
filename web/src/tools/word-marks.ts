/** Which words of two lines differ, and a line in pieces of one colour and one mark each. Pure. */
import { diffWordsWithSpace } from 'diff';
import type { Line } from './comparison.ts';

/** From and to, in UTF-16 code units of the line. */
export type Range = readonly [from: number, to: number];

const LONGEST = 400;
const TIMEOUT_MS = 5;
const MOST_PAIRS = 300;
/** Where less than this is the same, the lines are others and marks would only be noise. */
const ALIKE = 0.3;

/** Of each changed line that stands beside one like it: what in it is other. */
export function wordMarks(lines: readonly Line[]): ReadonlyMap<Line, readonly Range[]> {
  const marks = new Map<Line, readonly Range[]>();
  for (const [left, right] of changedPairs(lines).slice(0, MOST_PAIRS)) {
    const ranges = differences(left.text, right.text);
    if (!ranges) continue;
    marks.set(left, ranges.left);
    marks.set(right, ranges.right);
  }
  return marks;
}

function changedPairs(lines: readonly Line[]): (readonly [Line, Line])[] {
  const pairs: (readonly [Line, Line])[] = [];
  let removed: Line[] = [];
  for (const line of lines) {
    if (line.kind === 'same') removed = [];
    else if (line.kind === 'del') removed.push(line);
    else {
      const left = removed.shift();
      if (left) pairs.push([left, line]);
    }
  }
  return pairs;
}

function differences(left: string, right: string): { left: Range[]; right: Range[] } | undefined {
  if (Math.max(left.length, right.length) > LONGEST) return undefined;
  const parts = diffWordsWithSpace(left, right, { timeout: TIMEOUT_MS });
  const marks = { left: [] as Range[], right: [] as Range[] };
  let [atLeft, atRight, same] = [0, 0, 0];
  for (const { value, added, removed } of parts ?? []) {
    if (removed) marks.left.push([atLeft, atLeft + value.length]);
    if (added) marks.right.push([atRight, atRight + value.length]);
    if (!added && !removed) same += value.trim().length;
    if (!added) atLeft += value.length;
    if (!removed) atRight += value.length;
  }
  return same >= ALIKE * Math.min(left.trim().length, right.trim().length) && same > 0 ? marks : undefined;
}

interface Piece<Kind> {
  text: string;
  kind: Kind | undefined;
  isMarked: boolean;
}

/** @param tokens the line in colours; those of another text are not used. */
export function piecesOf<Kind>(
  text: string,
  tokens: readonly { text: string; kind: Kind | undefined }[] | undefined,
  ranges: readonly Range[],
): Piece<Kind>[] {
  const fits = tokens?.map((token) => token.text).join('') === text;
  const coloured = fits && tokens ? tokens : [{ text, kind: undefined }];
  const pieces: Piece<Kind>[] = [];
  let start = 0;
  for (const token of coloured) {
    const end = start + token.text.length;
    const inside = ranges.flat().filter((at) => at > start && at < end);
    const cuts = [start, ...inside, end];
    for (let index = 1; index < cuts.length; index++) {
      const [from = 0, to = 0] = [cuts[index - 1], cuts[index]];
      if (from === to) continue;
      const isMarked = ranges.some((range) => range[0] <= from && to <= range[1]);
      pieces.push({ text: text.slice(from, to), kind: token.kind, isMarked });
    }
    start = end;
  }
  return pieces;
}
