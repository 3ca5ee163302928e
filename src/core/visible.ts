/**
 * What a person is shown must be what is there: characters that cannot be seen, or that change how others are seen,
 * become escapes. It never leaves anything out.
 */
import type { Json } from './event.ts';

/** Controls, format and direction marks, every space but the plain one, fillers, and what no font has. */
const INVISIBLE = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** The text with each of them as JSON writes it: `\n`, `\u202e`. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const escaped = JSON.stringify(character).slice(1, -1);
    return escaped === character ? character.split('').map(unitEscape).join('') : escaped;
  });
}

/** What a person should know of something before they approve it. Tabs and line feeds are in every file. */
const SUSPICIONS: readonly [RegExp, string][] = [
  [/(?<!\\)(?:\\\\)*\\(?:[bfr]|u[\da-f]{4})/, 'it holds invisible characters, shown as escapes'],
  [/(?: |\\[nrt]|\\u[\da-f]{4}){80}/, 'it holds long padding, and more may follow'],
  [/^.{2048}/s, 'it is long; read it to its end'],
];

/** JSON that reads back as exactly this value and in which every character can be seen, and what to beware of in it. */
export function visibleJson(value: Json): { text: string; warnings: string[] } {
  const text = JSON.stringify(value, null, 2).split('\n').map(visible).join('\n');
  return { text, warnings: SUSPICIONS.filter(([pattern]) => pattern.test(text)).map(([, warning]) => warning) };
}

function unitEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
