/** What is being completed at the caret: a command at the beginning of the prompt, or a file anywhere in it. Text only. */

export interface Trigger {
  kind: 'command' | 'file';
  /** What was typed of it, up to the caret. */
  query: string;
  /** The whole word, from its `/` or `@` on. */
  start: number;
  end: number;
}

/** The server takes no more. */
const MAX_QUERY = 256;
/** What a word may stand behind: an address like a@b.example means no file. */
const BEFORE_FILE = /[\s([{<"'`,;:]$/;

export function triggerAt(text: string, caret: number): Trigger | undefined {
  const before = text.slice(0, caret);
  const end = caret + wordLength(text.slice(caret));
  const word = /^\/(\S*)$/.exec(before)?.[1];
  if (word !== undefined) return { kind: 'command', query: word, start: 0, end };

  const start = before.lastIndexOf('@');
  const query = before.slice(start + 1);
  if (start < 0 || query.length > MAX_QUERY || /\s/.test(query)) return undefined;
  if (start > 0 && !BEFORE_FILE.test(before.slice(start - 1, start))) return undefined;
  return { kind: 'file', query, start, end };
}

function wordLength(text: string): number {
  const length = text.search(/\s/);
  return length < 0 ? text.length : length;
}

/** What takes the place of the word. A space follows, unless there is one. */
export function insertion({ kind, end }: Trigger, value: string, text: string): string {
  const isFollowed = /^\s/.test(text.slice(end));
  return `${kind === 'command' ? '/' : '@'}${value}${isFollowed ? '' : ' '}`;
}

/** Those whose name begins with it, then those whose name has it. */
export function matchCommands<C extends { name: string }>(commands: readonly C[], query: string): C[] {
  const wanted = query.toLowerCase();
  const place = ({ name }: C) => name.toLowerCase().indexOf(wanted);
  const found = commands.filter((command) => place(command) >= 0);
  return [...found.filter((command) => place(command) === 0), ...found.filter((command) => place(command) > 0)];
}

interface Key {
  key: string;
  shiftKey: boolean;
  altKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
}

/** Ctrl or Cmd with Enter always sends; Enter alone where the person wants it so, and has a Shift key at hand. */
export function isSendKey({ key, shiftKey, altKey, ctrlKey, metaKey }: Key, enterSends: boolean): boolean {
  if (key !== 'Enter' || shiftKey || altKey) return false;
  return ctrlKey || metaKey || enterSends;
}
