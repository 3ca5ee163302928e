/**
 * Reads the plainest kind of shell command, one program and its words, exactly as bash would. Everything it does not
 * surely understand (expansions, operators, comments, escapes, line breaks) it refuses to read at all.
 */

export interface ShellWord {
  text: string;
  /** Holds an unquoted `*` or `?`: stands for any number of words that begin like it. */
  glob: boolean;
}

const MAX_LENGTH = 4096;
const BLANK = /^[ \t]+/;
const SINGLE_QUOTED = /^'([^'\p{Cc}]*)'/u;
/** Without the characters that keep a meaning between double quotes. */
const DOUBLE_QUOTED = /^"([^"$`\\!\p{Cc}]*)"/u;
/** Means itself everywhere, `~` when it follows a letter, digit, `^` or `~` (as in `HEAD~2`). */
const PLAIN = /^(?:[A-Za-z0-9_^]~*|[.,:=+@%/-])+/;
/** A file pattern that cannot turn into an option, `.` or `..`: it begins plainly, and no segment hides behind a dot. */
const GLOB = /^(?:\.\/[\w*?]|\w)[\w.\-/*?]*(?=[ \t]|$)/;
const HIDDEN_GLOB = /(?:^|\/)\.[^/]*[*?]/;
const NUMBER_RANGE = /^\{\d{1,4}\.\.\d{1,4}\}(?=[ \t]|$)/;

/** The words of the command, or undefined where it is anything but one plain command. */
export function readWords(command: string): ShellWord[] | undefined {
  if (command.length > MAX_LENGTH) return undefined;
  const words: ShellWord[] = [];
  for (let rest = command.replace(/^[ \t\n]+|[ \t\n]+$/g, ''); rest !== ''; ) {
    const taken = readGlob(rest) ?? readWord(rest);
    if (!taken) return undefined;
    words.push(taken.word);
    rest = taken.rest.replace(BLANK, '');
  }
  return words;
}

interface Taken {
  word: ShellWord;
  rest: string;
}

/** A word that stands for several: a file pattern or a range of numbers. */
function readGlob(text: string): Taken | undefined {
  const range = NUMBER_RANGE.exec(text)?.[0];
  if (range !== undefined) return { word: { text: range, glob: true }, rest: text.slice(range.length) };
  const glob = GLOB.exec(text)?.[0];
  if (glob === undefined || !/[*?]/.test(glob) || HIDDEN_GLOB.test(glob)) return undefined;
  return { word: { text: glob, glob: true }, rest: text.slice(glob.length) };
}

/** Plain and quoted pieces up to the next blank. */
function readWord(text: string): Taken | undefined {
  let word = '';
  let rest = text;
  while (rest !== '' && !BLANK.test(rest)) {
    const quoted = SINGLE_QUOTED.exec(rest) ?? DOUBLE_QUOTED.exec(rest);
    const [whole, piece = whole] = quoted ?? PLAIN.exec(rest) ?? [];
    if (whole === undefined || piece === undefined) return undefined;
    word += piece;
    rest = rest.slice(whole.length);
  }
  return { word: { text: word, glob: false }, rest };
}
