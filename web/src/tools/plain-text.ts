/**
 * Text of models and programs, made fit to be read: escape sequences of terminals go, what cannot be seen becomes an
 * escape that can. It must never let text pass for something else than it is.
 */

/** Colours and cursor moves, titles and links, and the short ones. An unfinished one ends with its line. */
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])|\u009b[0-?]*[ -/]*[@-~]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a backspace takes back the character before it.
const OVERSTRUCK = /[^\n\u0008]\u0008/g;
const CONTROL = /(?![\n\t])\p{Cc}/gu;
/** Controls, format and direction marks, every space but the plain one, fillers, and what no font has. */
const INVISIBLE = /(?![ \n\t])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const PICTURES = 0x2400;
const DELETE = 0x7f;

/** The output of a program, as a terminal would leave it standing: without colours, of a rewritten line its last state. */
export function plainOutput(output: string): string {
  const text = output.replace(SEQUENCES, '').replaceAll('\r\n', '\n').replace(OVERSTRUCK, '');
  return withoutRewritten(text).replace(CONTROL, picture);
}

/** Every line that returned to its beginning, without what it had said before. */
function withoutRewritten(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = text.indexOf('\r'); at >= 0; at = text.indexOf('\r', from)) {
    const start = text.lastIndexOf('\n', at) + 1;
    const next = text.indexOf('\n', at);
    const end = next < 0 ? text.length : next;
    kept.push(text.slice(from, start), lastState(text.slice(start, end)));
    from = end;
  }
  kept.push(text.slice(from));
  return kept.join('');
}

function lastState(line: string): string {
  const end = line.endsWith('\r') ? line.length - 1 : line.length;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}

function picture(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(PICTURES + code);
  return code === DELETE ? '\u2421' : '\ufffd';
}

/** With every invisible character as JSON writes it, but for tabs and line feeds: what is approved must be what is seen. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const escaped = JSON.stringify(character).slice(1, -1);
    return escaped === character ? character.split('').map(unitEscape).join('') : escaped;
  });
}

function unitEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Where a part of the text ends that begins at `from` and has at most so many lines and characters. */
export function endOfPart(text: string, from: number, lines: number, characters: number): number {
  const limit = Math.min(text.length, from + characters);
  let end = from;
  for (let line = 0; line < lines; line++) {
    const next = text.indexOf('\n', end);
    if (next < 0 || next + 1 > limit) return cleanEnd(text, limit);
    end = next + 1;
  }
  return end;
}

/** Not between the two halves of a character. */
function cleanEnd(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return end < text.length && unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end;
}

export function countLines(text: string): number {
  let count = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/** The last lines, without what is cut in two. */
export function tailOf(text: string, lines: number, characters: number): string {
  let start = text.length;
  for (let line = 0; line <= lines && start > 0; line++) start = text.lastIndexOf('\n', start - 1);
  return text.slice(Math.max(start + 1, text.length - characters));
}

/** A URL that may become a link. */
export function safeUrl(uri: string): string | undefined {
  if (!URL.canParse(uri)) return undefined;
  const { protocol, href } = new URL(uri);
  return protocol === 'http:' || protocol === 'https:' || protocol === 'mailto:' ? href : undefined;
}
