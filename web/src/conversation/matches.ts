/** Finds words in a conversation, without case, in small steps: the page stays alive meanwhile. */
import type { Item } from '../state/items.ts';

export interface Match {
  itemId: string;
  /** Of the match in `textOf` the item. */
  offset: number;
}

export const MOST_MATCHES = 5_000;
const STEP_MS = 8;

/** What of an item can be found, as one text. */
export function textOf(item: Item): string {
  switch (item.type) {
    case 'message':
    case 'thought':
      return item.text;
    case 'user':
      return item.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    case 'tool':
      return [item.call.title ?? '', ...(item.call.content ?? []).map(contentText)].join('\n');
  }
}

function contentText(content: NonNullable<Extract<Item, { type: 'tool' }>['call']['content']>[number]): string {
  if (content.type === 'diff') return `${content.path}\n${content.newText}`;
  return content.type === 'content' && content.content.type === 'text' ? content.content.text : '';
}

/** @param breathe lets others work; the search ends where it says false. */
export async function findMatches(
  items: readonly Item[],
  query: string,
  breathe: () => Promise<boolean>,
): Promise<readonly Match[]> {
  const wanted = query.toLowerCase();
  const found: Match[] = [];
  if (wanted === '') return found;
  let until = performance.now() + STEP_MS;
  for (const item of items) {
    const text = textOf(item).toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      if (found.push({ itemId: item.id, offset: at }) >= MOST_MATCHES) return found;
    }
    if (performance.now() < until) continue;
    if (!(await breathe())) return found;
    until = performance.now() + STEP_MS;
  }
  return found;
}

/** @returns where `query` stands in `text`, between two offsets; no more than some hundreds. */
export function occurrences(text: string, query: string, from = 0, to = text.length): readonly number[] {
  const [all, wanted] = [text.toLowerCase(), query.toLowerCase()];
  const found: number[] = [];
  if (wanted === '') return found;
  for (let at = all.indexOf(wanted, from); at >= 0 && at < to; at = all.indexOf(wanted, at + wanted.length)) {
    if (found.push(at) >= MOST_IN_ONE) return found;
  }
  return found;
}

const MOST_IN_ONE = 500;
