/**
 * How the words of a call are shown to people. Never lets text of the model pass for something else: line breaks,
 * control characters and direction marks are shown as escapes.
 */
const TITLE_LENGTH = 200;
const COMMAND_LENGTH = 60;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export function oneLine(text: string, max = TITLE_LENGTH): string {
  const visible = text.replace(INVISIBLE, (character) => {
    const escaped = JSON.stringify(character).slice(1, -1);
    return escaped === character ? `\\u{${character.codePointAt(0)?.toString(16)}}` : escaped;
  });
  return visible.length > max ? `${visible.slice(0, max - 3)}...` : visible;
}

export function pathTitle(tool: string, path: string): string {
  return oneLine(`${tool} ${path}`);
}

/** For what is not a path: a command or a pattern, cut so that it fits one line of a list. */
export function shortTitle(tool: string, text: string): string {
  return `${tool}: ${oneLine(text, COMMAND_LENGTH)}`;
}
