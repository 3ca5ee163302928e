/** Where things are in the list: the prompt before or after what is in sight, the row of a match. */
import type { VirtualizerHandle } from 'virtua';
import type { Row } from './rows.ts';

type List = Pick<VirtualizerHandle, 'scrollOffset' | 'viewportSize' | 'getItemOffset' | 'getItemSize'>;

/** A prompt at the top of the window stands within so many pixels of it. */
const SLACK = 24;

/** @returns the row of the next prompt before (-1) or after (1) the top of the window. */
export function promptFrom(rows: readonly Row[], list: List, step: -1 | 1, head: number): number | undefined {
  const top = list.scrollOffset - head;
  const isBeyond = (row: Row, index: number) => {
    if (row.item.type !== 'user') return false;
    const offset = list.getItemOffset(index);
    return step < 0 ? offset < top - SLACK : offset > top + SLACK;
  };
  const index = step < 0 ? rows.findLastIndex(isBeyond) : rows.findIndex(isBeyond);
  return index < 0 ? undefined : index;
}

/** @param offset in the item's text: a long message has several rows. */
export function rowAt(rows: readonly Row[], itemId: string, offset: number): number | undefined {
  const index = rows.findLastIndex(
    ({ item, part }) => item.id === itemId && (part === undefined || part.start <= offset),
  );
  return index < 0 ? undefined : index;
}

/** The row is in the window, and small enough to be there as a whole. */
export function isInSight(list: List, index: number, head: number): boolean {
  const top = list.getItemOffset(index) + head - list.scrollOffset;
  return top >= 0 && top + list.getItemSize(index) <= list.viewportSize;
}

export function isPlainKey(event: KeyboardEvent, key: string): boolean {
  const isTyping =
    event.target instanceof HTMLElement && event.target.closest('input, textarea, select, dialog') !== null;
  return event.key === key && !event.ctrlKey && !event.metaKey && !isTyping;
}
