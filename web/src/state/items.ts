/**
 * The transcript as components draw it: what has not changed is the same object as before. The client changes its items in
 * place, because it must be quick; React looks for other objects.
 */
import type { Item } from '../../../src/client/transcript.ts';

export type { Item };

/** @returns what makes the list anew from the client's: equal items are the objects of the last time. */
export function itemCopies(): (items: readonly Item[]) => readonly Item[] {
  let last = new Map<Item, Item>();
  let shown: readonly Item[] = [];

  return (items) => {
    const copies = new Map<Item, Item>();
    let changed = items.length !== shown.length;
    const next = items.map((item, index) => {
      const before = last.get(item);
      const copy = before !== undefined && isSame(item, before) ? before : { ...item };
      copies.set(item, copy);
      changed ||= shown[index] !== copy;
      return copy;
    });
    last = copies;
    if (changed) shown = next;
    return shown;
  };
}

function isSame(item: Item, copy: Item): boolean {
  switch (item.type) {
    case 'user':
      return copy.type === 'user' && copy.pending === item.pending && copy.content.length === item.content.length;
    case 'message':
    case 'thought':
      return copy.type === item.type && copy.text.length === item.text.length && copy.text === item.text;
    case 'tool':
      return copy.type === 'tool' && copy.call === item.call;
  }
}
