/** The list of a conversation: only what is in sight is drawn, it stays at its end, and reads older items as they are neared. */
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import type { Item } from '../state/items.ts';
import type { OpenSession } from '../state/open-session.ts';
import { prompted, shell, show } from '../state/shell.ts';
import { useStore } from '../state/store.ts';
import { names } from '../ui/button.tsx';
import { Find } from './find.tsx';
import { ItemRow } from './item-row.tsx';
import { ListNavigation } from './list-navigation.tsx';
import { isInSight, isPlainKey, promptFrom, rowAt } from './places.ts';
import { createRows, type Row, type Rows } from './rows.ts';
import { type End, useEnd } from './use-end.ts';
import { useOlder } from './use-older.ts';
import { Working } from './working.tsx';

/** Of the line above the first row, in pixels. */
const HEAD = 44;
/** Drawn beyond the edges, in pixels: the wheel must not outrun it. */
const BEYOND = 800;

export function ConversationList({ session }: { session: OpenSession }) {
  const items = useStore(session.view, (view) => view.items);
  const running = useStore(session.view, (view) => view.running);
  const isFinding = useStore(shell, ({ find }) => find);
  const rows = useRows(items);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const end = useEnd(scroller, rows);
  useOwnPrompt(end);
  const isSettled = useSettled();
  const nearTop = useOlder(session, list, isSettled ? rows : undefined);
  const go = useGo(rows.list, list, end);
  useKeys(scroller, go.toPrompt);
  const last = running ? items.at(-1) : undefined;

  return (
    <>
      {isFinding && <Find session={session} list={scroller} showMatch={go.toMatch} onClose={() => close(scroller)} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <div ref={scroller} className={names('conversation-scroll', !isSettled && 'unsettled')} tabIndex={0}>
        <Beginning session={session} />
        <Virtualizer
          ref={list}
          data={rows.list}
          shift={rows.hasOlder}
          scrollRef={scroller}
          startMargin={HEAD}
          bufferSize={BEYOND}
          onResize={end.settle}
          onScroll={nearTop}
        >
          {(row) => (
            <ItemRow
              key={row.key}
              row={row}
              running={running && row.item.type === 'tool'}
              live={row.item === last && isText(row.item)}
            />
          )}
        </Virtualizer>
        <Working session={session} />
      </div>
      <ListNavigation items={items} isAtEnd={end.isAtEnd} toEnd={end.toEnd} toPrompt={go.toPrompt} />
    </>
  );
}

function useRows(items: readonly Item[]): Rows {
  const [makeRows] = useState(createRows);
  const [again, setAgain] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same items, once more.
  const rows = useMemo(() => makeRows(items), [makeRows, items, again]);
  useEffect(() => {
    if (!rows.isPartial) return;
    const frame = requestAnimationFrame(() => setAgain((count) => count + 1));
    return () => cancelAnimationFrame(frame);
  }, [rows]);
  return rows;
}

function isText({ type }: Item): boolean {
  return type === 'message' || type === 'thought';
}

function close(scroller: RefObject<HTMLElement | null>): void {
  show({ find: false });
  scroller.current?.focus({ preventScroll: true });
}

function Beginning({ session }: { session: OpenSession }) {
  const hasOlder = useStore(session.view, (view) => view.hasOlder);
  return (
    <div className="conversation-beginning">
      {hasOlder ? (
        <>
          <span className="spinner" aria-hidden />
          Reading older messages…
        </>
      ) : (
        'The beginning of the Session'
      )}
    </div>
  );
}

/** Whoever sends a prompt sees it, and the answer. */
function useOwnPrompt({ toEnd }: End): void {
  const count = useStore(prompted);
  const shown = useRef(count);
  useEffect(() => {
    if (shown.current === count) return;
    shown.current = count;
    toEnd();
  }, [count, toEnd]);
}

const SETTLED_MS = 250;

/** The first frames, in which sizes are found out and the list comes to its end, are not for showing. */
function useSettled(): boolean {
  const [isSettled, setSettled] = useState(false);
  useEffect(() => {
    const done = () => setSettled(true);
    const late = setTimeout(done, SETTLED_MS);
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => {
        frame = requestAnimationFrame(done);
      });
    });
    return () => {
      clearTimeout(late);
      cancelAnimationFrame(frame);
    };
  }, []);
  return isSettled;
}

function useGo(rows: readonly Row[], list: RefObject<VirtualizerHandle | null>, { leave, toEnd }: End) {
  const latest = useRef(rows);
  useEffect(() => {
    latest.current = rows;
  }, [rows]);

  const toPrompt = useCallback(
    (step: -1 | 1) => {
      if (!list.current) return;
      const index = promptFrom(latest.current, list.current, step, HEAD);
      if (index === undefined && step === 1) return toEnd();
      leave();
      list.current.scrollToIndex(index ?? 0, { align: 'start', offset: -HEAD / 4 });
    },
    [list, leave, toEnd],
  );
  const toMatch = useCallback(
    (itemId: string, offset: number) => {
      const index = rowAt(latest.current, itemId, offset);
      if (index === undefined) return undefined;
      leave();
      if (list.current && !isInSight(list.current, index, HEAD)) list.current.scrollToIndex(index, { align: 'center' });
      return latest.current[index];
    },
    [list, leave],
  );
  return { toPrompt, toMatch };
}

/** The browser's own way of finding sees only what is drawn: ours is in its place where the conversation has the focus. */
function useKeys(scroller: RefObject<HTMLElement | null>, toPrompt: (step: -1 | 1) => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const section = scroller.current?.parentElement;
      const isHere = document.activeElement === document.body || section?.contains(document.activeElement);
      if (event.defaultPrevented || !isHere) return;
      if (event.key.toLowerCase() === 'f' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
        event.preventDefault();
        show({ find: true });
      } else if (isPlainKey(event, '[') || isPlainKey(event, ']')) {
        event.preventDefault();
        toPrompt(event.key === '[' ? -1 : 1);
      }
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [scroller, toPrompt]);
}
