/**
 * What the list draws: a row for every item, several for a long message, so that none is too large to draw at once. Rows
 * of what has not changed are the same objects as before; finding the others must not cost as much as drawing them.
 */
import type { Item } from '../state/items.ts';
import { type Block, type Blocks, createSplitter } from './blocks.ts';

/** Some of the blocks of a long message. */
export interface Part extends Blocks {
  start: number;
  isLast: boolean;
}

export interface Row {
  key: string;
  item: Item;
  /** It stands close to the row above: both are tool calls, or of one message. */
  joined: boolean;
  part: Part | undefined;
}

export interface Rows {
  list: readonly Row[];
  /** These begin with rows that stand before all of the last time. */
  hasOlder: boolean;
  /** The last message is so long that it takes several frames to look through: make the rows again in the next one. */
  isPartial: boolean;
}

/** Characters: a message beyond this is drawn in parts. */
const LONG = 12_000;
const PART = 1_500;
/** Characters of the last message that are looked through in one frame. */
const WINDOW = 100_000;

export function createRows({ long = LONG, size = PART, most = WINDOW } = {}): (items: readonly Item[]) => Rows {
  let before: readonly Item[] = [];
  /** Of each item, where its rows begin. */
  let starts: number[] = [];
  let last: Rows = { list: [], hasOlder: false, isPartial: false };
  const made = new WeakMap<Item, readonly Row[]>();
  const partsOf = createParts(size);

  function rowsOf(item: Item, joined: boolean, upTo: number): readonly Row[] {
    const known = made.get(item);
    if (known?.[0]?.joined === joined) return known;
    const key = `${item.type}:${item.id}`;
    if (item.type !== 'message' || item.text.length <= long || isNotice(item)) {
      const rows = [{ key, item, joined, part: undefined }];
      made.set(item, rows);
      return rows;
    }
    const parts = partsOf(item.id, item.text, upTo);
    const rows = parts.map((part, index) => ({
      key: index === 0 ? key : `${key}:${part.start}`,
      item,
      joined: joined || index > 0,
      part,
    }));
    if (upTo >= item.text.length) made.set(item, rows);
    return rows;
  }

  return (items) => {
    if (items === before && !last.isPartial) return last;
    let same = 0;
    const unchanged = Math.min(items.length, before.length) - (last.isPartial ? 1 : 0);
    while (same < unchanged && items[same] === before[same]) same += 1;
    const list = last.list.slice(0, same < before.length ? starts[same] : last.list.length);
    starts = starts.slice(0, same);
    let isPartial = false;
    for (let index = same; index < items.length; index += 1) {
      const item = items[index];
      if (!item) break;
      starts.push(list.length);
      const isLast = index === items.length - 1 && item.type === 'message' && !isNotice(item);
      const upTo = isLast ? partsOf.done(item.id) + most : Number.POSITIVE_INFINITY;
      isPartial = isLast && upTo < item.text.length;
      for (const row of rowsOf(item, item.type === 'tool' && items[index - 1]?.type === 'tool', upTo)) list.push(row);
    }
    const first = last.list[0]?.key;
    const hasOlder = same === 0 && first !== undefined && list.findIndex(({ key }) => key === first) > 0;
    before = items;
    last = { list, hasOlder, isPartial };
    return last;
  };
}

/** What the runtime says, not the agent: that a Turn failed, that the conversation was compacted. */
export function isNotice({ id }: Item): boolean {
  return id.startsWith('end_') || id.startsWith('cmp_');
}

interface Parts {
  (id: string, text: string, upTo: number): readonly Part[];
  /** How much of a message has been looked through. */
  done(id: string): number;
}

/** @returns the parts of a message, those that are finished the same as the last time. */
function createParts(size: number): Parts {
  const messages = new Map<
    string,
    { split: ReturnType<typeof createSplitter>; parts: readonly Part[]; done: number }
  >();

  function partsOf(id: string, text: string, upTo: number): readonly Part[] {
    const message = messages.get(id) ?? { split: createSplitter(), parts: [], done: 0 };
    messages.set(id, message);
    const { list, links } = message.split(text.slice(0, upTo));
    message.done = Math.min(text.length, upTo);
    // To draw what is on its way would take longer than to look through it.
    if (upTo < text.length) return message.parts;
    const groups: Block[][] = [];
    let length = size;
    for (const block of list) {
      if (length >= size) {
        groups.push([]);
        length = 0;
      }
      groups.at(-1)?.push(block);
      length += block.raw.length;
    }
    message.parts = groups.map((blocks, index) => {
      const part = { list: blocks, links, start: blocks[0]?.start ?? 0, isLast: index === groups.length - 1 };
      const known = message.parts[index];
      return known && isSame(part, known) ? known : part;
    });
    return message.parts;
  }

  return Object.assign(partsOf, { done: (id: string) => messages.get(id)?.done ?? 0 });
}

function isSame(part: Part, other: Part): boolean {
  if (part.links !== other.links || part.isLast !== other.isLast || part.list.length !== other.list.length)
    return false;
  return part.list.every((block, index) => block === other.list[index]);
}
