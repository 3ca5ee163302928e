/** Which paths somebody means by a few letters. Pure; it must look at nothing but its arguments. */

/** What a letter counts that is found in the path, and what it counts more for being where it is. */
const FOUND = 1;
const ADJOINING = 6;
const IN_NAME = 3;
const STARTS_WORD = 5;
const STARTS_SEGMENT = 8;

const NONE = -1_000_000;
const SLASH = 47;

interface Found {
  path: string;
  score: number;
}

/**
 * The best `limit` of the paths that hold the letters of the query in their order, best first: what is in the file's
 * name counts most, then beginnings of segments and of words, and what is in one piece; of equals the shorter is first.
 */
export function rank(query: string, paths: readonly string[], limit: number): string[] {
  const letters = query.toLowerCase();
  const scoreOf = scorer(letters);
  const best: Found[] = [];
  for (const path of paths) {
    const lower = path.toLowerCase();
    if (!holds(lower, letters)) continue;
    const found = { path, score: scoreOf(path, lower) };
    const last = best.at(-1);
    if (best.length === limit && last && !isBetter(found, last)) continue;
    const place = best.findIndex((other) => isBetter(found, other));
    best.splice(place === -1 ? best.length : place, 0, found);
    if (best.length > limit) best.pop();
  }
  return best.map(({ path }) => path);
}

function isBetter(one: Found, other: Found): boolean {
  if (one.score !== other.score) return one.score > other.score;
  if (one.path.length !== other.path.length) return one.path.length < other.path.length;
  return one.path < other.path;
}

function holds(text: string, letters: string): boolean {
  let at = -1;
  for (let index = 0; index < letters.length; index++) {
    at = text.indexOf(letters.charAt(index), at + 1);
    if (at === -1) return false;
  }
  return true;
}

/** Scores the best of all ways to find the letters. Its rows are used again: this runs for every file of a workspace. */
function scorer(letters: string): (path: string, lower: string) => number {
  let values = new Int32Array(256);
  // For each place of the path: the letters so far, scored where the last one is right there, and there or before.
  let there = new Int32Array(256);
  let upTo = new Int32Array(256);

  return (path, lower) => {
    const { length } = lower;
    if (length > values.length) {
      values = new Int32Array(length * 2);
      there = new Int32Array(length * 2);
      upTo = new Int32Array(length * 2);
    }
    fillValues(values, path);
    there.fill(NONE, 0, length);
    upTo.fill(0, 0, length);
    let best = 0;
    for (let index = 0; index < letters.length; index++) {
      const letter = letters.charCodeAt(index);
      let thereBefore = NONE;
      let upToBefore = index === 0 ? 0 : NONE;
      best = NONE;
      for (let at = 0; at < length; at++) {
        const from = Math.max(upToBefore, thereBefore + ADJOINING);
        thereBefore = there[at] ?? NONE;
        upToBefore = upTo[at] ?? NONE;
        const score = lower.charCodeAt(at) === letter ? from + (values[at] ?? 0) : NONE;
        best = Math.max(best, score);
        there[at] = score;
        upTo[at] = best;
      }
    }
    return best;
  };
}

function fillValues(values: Int32Array, path: string): void {
  const name = path.lastIndexOf('/') + 1;
  let before = SLASH;
  for (let at = 0; at < path.length; at++) {
    const code = path.charCodeAt(at);
    const place = before === SLASH ? STARTS_SEGMENT : startsWord(before, code) ? STARTS_WORD : 0;
    values[at] = FOUND + place + (at >= name ? IN_NAME : 0);
    before = code;
  }
}

/** Also in the middle of a name that is written in camel case. */
function startsWord(before: number, code: number): boolean {
  return !isWordCode(before) || (isUpper(code) && !isUpper(before));
}

const isUpper = (code: number) => code >= 65 && code <= 90;
/** Whatever is not ASCII counts as a letter. */
const isWordCode = (code: number) =>
  (code >= 97 && code <= 122) || isUpper(code) || (code >= 48 && code <= 57) || code > 127;
