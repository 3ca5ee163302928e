/**
 * How the words of a call are shown to people. Never lets text of the model pass for something else: line breaks,
 * control characters and direction marks are shown as escapes.
 */
import { visible } from '../core/visible.ts';

const TITLE_LENGTH = 200;
const COMMAND_LENGTH = 60;

export function oneLine(text: string, max = TITLE_LENGTH): string {
  const shown = visible(text);
  return shown.length > max ? `${shown.slice(0, max - 3)}...` : shown;
}

export function pathTitle(tool: string, path: string): string {
  return oneLine(`${tool} ${path}`);
}

/** What a remembered decision covers where a tool changes one file: whatever it makes of that file. */
export function onFile({ path }: { path: string }) {
  return { key: { path }, text: `on ${JSON.stringify(path)}` };
}

/** For what is not a path: a command or a pattern, cut so that it fits one line of a list. */
export function shortTitle(tool: string, text: string): string {
  return `${tool}: ${oneLine(text, COMMAND_LENGTH)}`;
}
