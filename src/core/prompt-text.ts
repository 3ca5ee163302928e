/** What a prompt says: the part that is for the model, and the title it makes. Pure; it must never change what is recorded. */
import type { ContentBlock, EventData } from './event.ts';

/** The content without the command that was obeyed already. */
export function askedOf({ content, command }: Pick<EventData['user_message'], 'content' | 'command'>): ContentBlock[] {
  const [first, ...rest] = content;
  if (command === undefined || first?.type !== 'text') return content;
  const text = first.text.slice(1 + command.length).trimStart();
  return text === '' ? rest : [{ ...first, text }, ...rest];
}

const MAX_TITLE = 60;

/** The first line that says something, as one plain line; null when none does. */
export function titleOf(content: readonly ContentBlock[]): string | null {
  const lines = content.flatMap((block) => (block.type === 'text' ? block.text.split(/[\r\n\u2028\u2029]/) : []));
  return shorten(lines.map(plain).find((line) => line !== '') ?? '') || null;
}

/** Without Markdown's marks, and without what cannot be seen or changes how the rest is seen. */
function plain(line: string): string {
  return line
    .replace(/[\s\p{Z}]/gu, ' ')
    .replace(/[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu, '')
    .replace(/^(?:[#>+*-]+ | )+|[`*]+/g, '')
    .replace(/ +/g, ' ')
    .trim();
}

/** Cut at a word, where there is one to cut at. */
function shorten(line: string): string {
  const characters = [...line];
  if (characters.length <= MAX_TITLE) return line;
  const head = characters.slice(0, MAX_TITLE - 1).join('');
  const space = characters[MAX_TITLE - 1] === ' ' ? head.length : head.lastIndexOf(' ');
  return `${(space > 0 ? head.slice(0, space) : head).trimEnd()}…`;
}
