/** Marks what was found on the page, by ranges over the text that is drawn: the elements stay as they are. */
import { occurrences } from './matches.ts';

const ALL = 'found';
const CURRENT = 'found-current';
const hasMarks = typeof Highlight !== 'undefined' && 'highlights' in CSS;

/** @param row which of the rows has the match that is shown; @param nth which one in that row. */
export function mark(list: HTMLElement, query: string, row: string | undefined, nth: number): void {
  if (!hasMarks) return;
  const all: Range[] = [];
  let current: Range | undefined;
  for (const element of list.querySelectorAll<HTMLElement>('[data-row]')) {
    const ranges = rangesIn(element, query);
    all.push(...ranges);
    if (row !== undefined && element.dataset.row === row) current = ranges[Math.min(nth, ranges.length - 1)];
  }
  CSS.highlights.set(ALL, new Highlight(...all));
  const now = new Highlight(...(current ? [current] : []));
  now.priority = 1;
  CSS.highlights.set(CURRENT, now);
  const isOutlined = row !== undefined && current === undefined;
  for (const element of list.querySelectorAll<HTMLElement>('[data-row]'))
    element.toggleAttribute('data-found', isOutlined && element.dataset.row === row);
}

export function unmark(list: HTMLElement | null): void {
  if (!hasMarks) return;
  CSS.highlights.delete(ALL);
  CSS.highlights.delete(CURRENT);
  for (const element of list?.querySelectorAll('[data-found]') ?? []) element.removeAttribute('data-found');
}

/** The match that is shown, where it is drawn. */
export function currentRect(): DOMRect | undefined {
  if (!hasMarks) return undefined;
  const [range] = CSS.highlights.get(CURRENT) ?? [];
  return range instanceof Range ? range.getBoundingClientRect() : undefined;
}

/** A match may begin in one element and end in another. */
function rangesIn(element: HTMLElement, query: string): Range[] {
  const nodes: { node: Text; start: number }[] = [];
  let text = '';
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push({ node: node as Text, start: text.length });
    text += node.nodeValue ?? '';
  }
  const place = (offset: number): [Text, number] | undefined => {
    const found = nodes.findLast(({ start }) => start <= offset);
    return found && [found.node, Math.min(offset - found.start, found.node.length)];
  };
  return occurrences(text, query).flatMap((at) => {
    const [from, to] = [place(at), place(at + query.length - 1)];
    if (!from || !to) return [];
    const range = document.createRange();
    range.setStart(...from);
    range.setEnd(to[0], Math.min(to[1] + 1, to[0].length));
    return [range];
  });
}
