/** The Events as a table of which only the rows in sight are drawn, newest first. It reads on when its end comes near. */
// biome-ignore-all lint/a11y: a table element cannot leave out the rows that are not in sight, so roles make one of other elements.
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import type { LoggedEvent } from '../../../src/client/connect.ts';
import { COLUMNS, EventRow } from './event-row.tsx';
import type { LogReader } from './log-reader.ts';

interface TableProps {
  events: readonly LoggedEvent[];
  /** Of all rows, also those that were not read yet; -1 where that is not known. */
  total: number;
  broken: { seq: number; reason: string } | undefined;
  reader: LogReader;
  list: RefObject<VirtualizerHandle | null>;
}

/** Some screens of rows ahead, so that nobody scrolls into nothing. */
const AHEAD_PX = 4_000;
const ROW_PX = 36;

export function EventTable({ events, total, broken, reader, list }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [open, toggle] = useOpen(reader, scroller);
  const shift = useShift(events, list);
  const { currentSeq, currentIndex, onKeyDown } = useRowKeys(events, scroller, list);

  function readOn(): void {
    const { scrollSize = 0, scrollOffset = 0, viewportSize = 0 } = list.current ?? {};
    if (scrollSize - scrollOffset - viewportSize < AHEAD_PX && reader.view.get().hasOlder) void reader.older();
  }

  return (
    <div role="table" className="log-table" aria-label="Events" aria-rowcount={total < 0 ? -1 : total + 1}>
      <div role="rowgroup" className="log-head">
        <div role="row" aria-rowindex={1} className="log-row">
          {COLUMNS.map((column) => (
            <span key={column} role="columnheader">
              {column}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" ref={scroller} className="log-rows" onKeyDown={onKeyDown}>
        <Virtualizer
          ref={list}
          data={events}
          shift={shift}
          itemSize={ROW_PX}
          bufferSize={600}
          keepMounted={currentIndex >= 0 ? [currentIndex] : []}
          onScroll={readOn}
          onResize={readOn}
        >
          {(event, index) => (
            <EventRow
              key={event.seq}
              event={event}
              rowIndex={index + 2}
              isOpen={open.has(event.seq)}
              isCurrent={event.seq === currentSeq}
              broken={event.seq === broken?.seq ? broken.reason : undefined}
              reader={reader}
              onToggle={toggle}
            />
          )}
        </Virtualizer>
      </div>
    </div>
  );
}

function useOpen(
  reader: LogReader,
  scroller: RefObject<HTMLElement | null>,
): [ReadonlySet<number>, (seq: number) => void] {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const isOpen = useRef(open);
  // The same one for every drawing, so that the rows are not drawn anew.
  const [toggle] = useState(() => (seq: number) => {
    // Whoever marks text in a row does not mean to close it.
    if (getSelection()?.isCollapsed === false) return;
    const after = new Set(isOpen.current);
    if (!after.delete(seq)) {
      after.add(seq);
      void showWhole(reader, seq, scroller);
    }
    isOpen.current = after;
    setOpen(after);
  });
  return [open, toggle];
}

/** What was opened at the lower edge comes into sight. */
async function showWhole(reader: LogReader, seq: number, scroller: RefObject<HTMLElement | null>): Promise<void> {
  await reader.whole(seq).catch(() => undefined);
  setTimeout(() => {
    const row = scroller.current?.querySelector(`[data-seq="${seq}"]`)?.closest('.log-row');
    row?.nextElementSibling?.scrollIntoView({ block: 'nearest' });
  }, DRAWN_MS);
}

const DRAWN_MS = 50;

/** True while new Events come in above what is being read: that stays where it is. At the top, they push it down. */
function useShift(events: readonly LoggedEvent[], list: RefObject<VirtualizerHandle | null>): boolean {
  const [before, setBefore] = useState(events);
  const [shift, setShift] = useState(false);
  if (before !== events) {
    const isPrepended =
      events.length > 0 && before.length > 0 && events[0] !== before[0] && events.includes(before[0] as LoggedEvent);
    setBefore(events);
    setShift(isPrepended && (list.current?.scrollOffset ?? 0) > 0);
  }
  return shift;
}

/** One stop for Tab; the arrow keys, Home and End go from row to row. */
function useRowKeys(
  events: readonly LoggedEvent[],
  scroller: RefObject<HTMLElement | null>,
  list: RefObject<VirtualizerHandle | null>,
) {
  const [current, setCurrent] = useState<number>();
  const goes = useRef(false);
  const found = events.findIndex(({ seq }) => seq === current);
  const currentIndex = Math.max(found, Math.min(0, events.length - 1));
  const currentSeq = events[currentIndex]?.seq;

  useEffect(() => {
    if (!goes.current) return;
    goes.current = false;
    focusOnceShown(() => scroller.current?.querySelector<HTMLElement>(`[data-seq="${currentSeq}"]`));
  }, [currentSeq, scroller]);

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    const at = Number((event.target as HTMLElement).dataset.seq ?? Number.NaN);
    const index = events.findIndex(({ seq }) => seq === at);
    const steps: Record<string, number> = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      PageDown: index + 10,
      PageUp: index - 10,
      Home: 0,
      End: events.length - 1,
    };
    const step = steps[event.key];
    if (index < 0 || step === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(step, events.length - 1));
    goes.current = next !== currentIndex;
    setCurrent(events[next]?.seq);
    list.current?.scrollToIndex(next, { align: 'nearest' });
  }

  return { currentSeq, currentIndex, onKeyDown };
}

const TRIES = 30;

/** A row that was not in sight is hidden until it has been measured, and what is hidden takes no focus. */
function focusOnceShown(find: () => HTMLElement | null | undefined, tries = TRIES): void {
  const element = find();
  element?.focus({ preventScroll: true });
  if (tries > 0 && document.activeElement !== element) requestAnimationFrame(() => focusOnceShown(find, tries - 1));
}
