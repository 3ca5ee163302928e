/**
 * What a person is shown must be what is there: characters that cannot be seen, or that change how others are seen,
 * become escapes. It never leaves anything out.
 */

/** Controls, format and direction marks, every space but the plain one, fillers, and what no font has. */
const INVISIBLE = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** The text with each of them as JSON writes it: `\n`, `\u202e`. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const escaped = JSON.stringify(character).slice(1, -1);
    return escaped === character ? character.split('').map(unitEscape).join('') : escaped;
  });
}

function unitEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
