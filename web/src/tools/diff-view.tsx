/**
 * A change of a text, unified or side by side: numbers, marked words, folded unchanged lines, colours when they are
 * ready. It draws a few hundred lines at a time, whatever the size of the file.
 */
import { Columns2, Rows2 } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type CodeLine, highlight, highlighted } from '../conversation/highlight.ts';
import type { OpenSession } from '../state/open-session.ts';
import { choose, settings } from '../state/settings.ts';
import { useStore } from '../state/store.ts';
import { IconButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { useRemembered } from './card-memory.ts';
import { type Change, type Comparison, comparisonOf, runsOf } from './comparison.ts';
import { DiffCounts } from './diff-counts.tsx';
import { type Colours, DiffRows, type Row } from './diff-rows.tsx';
import { visible } from './plain-text.ts';
import { counted } from './words.ts';
import './diff.css';

interface DiffViewProps {
  /** As it is shown; its ending says the language. */
  path: string;
  change: Change;
  /** The texts are pieces of the file: their line numbers mean nothing. */
  isPart?: boolean;
  /** What is opened is remembered for this Session under this key. */
  session: OpenSession | undefined;
  memoryKey: string;
}

const FIRST_ROWS = 100;
const MORE_ROWS = 400;
const UNFOLD = 100;
const SIDE_BY_SIDE_WIDTH = 640;

export function DiffView({ path, change, isPart = false, session, memoryKey }: DiffViewProps) {
  const comparison = comparisonOf(change);
  const [shown = FIRST_ROWS, setShown] = useRemembered<number>(session, `${memoryKey} rows`);
  const [opened = {}, setOpened] = useRemembered<Record<number, number>>(session, `${memoryKey} folds`);
  const colours = useColours(change, path);
  const box = useRef<HTMLElement>(null);
  const isWide = useIsWide(box);
  const wantsSplit = useStore(settings, ({ diff }) => diff === 'split');
  const { rows, more } = useMemo(() => rowsOf(comparison, opened, shown), [comparison, opened, shown]);
  const canSplit = isWide && comparison.kind === 'lines' && comparison.added > 0 && comparison.removed > 0;

  return (
    <figure className="diff" ref={box} aria-label={`Change of ${visible(path)}`}>
      <figcaption className="diff-head">
        <span className="diff-path">{visible(path)}</span>
        <Counts comparison={comparison} isNew={(change.oldText ?? null) === null && !isPart} />
        {canSplit && (
          <IconButton
            icon={wantsSplit ? Rows2 : Columns2}
            label={wantsSplit ? 'Show unified' : 'Show side by side'}
            small
            onClick={() => choose({ diff: wantsSplit ? 'unified' : 'split' })}
          />
        )}
        <CopyButton text={change.newText} label="Copy the new text" />
      </figcaption>
      {comparison.kind === 'too_large' && <p className="diff-note">Too large to compare. This is the new text.</p>}
      {comparison.lines.length === 0 && <p className="diff-note">Empty.</p>}
      {rows.length > 0 && (
        <DiffRows
          label={`Changes in ${visible(path)}`}
          rows={rows}
          isSplit={wantsSplit && canSplit}
          isWhole={!isPart}
          colours={colours}
          onUnfold={(fold) => setOpened({ ...opened, [fold]: (opened[fold] ?? 0) + UNFOLD })}
        />
      )}
      {more > 0 && (
        <button type="button" className="diff-more" onClick={() => setShown(shown + MORE_ROWS)}>
          Show {counted(Math.min(more, MORE_ROWS), 'more line')}
          {more > MORE_ROWS && ` of ${more.toLocaleString('en')}`}
        </button>
      )}
    </figure>
  );
}

function Counts({ comparison, isNew }: { comparison: Comparison; isNew: boolean }) {
  if (comparison.kind === 'too_large') return null;
  return (
    <>
      {isNew && <span className="diff-new">new file</span>}
      <DiffCounts {...comparison} />
    </>
  );
}

/** What is drawn: lines, and folds between them; at most so many. */
function rowsOf(comparison: Comparison, opened: Record<number, number>, shown: number): { rows: Row[]; more: number } {
  const { kind, lines } = comparison;
  const rows: Row[] = [];
  const runs = kind === 'lines' ? runsOf(lines) : [{ isFolded: false, from: 0, to: lines.length }];
  for (const { isFolded, from, to } of runs) {
    const end = isFolded ? Math.min(to, from + (opened[from] ?? 0)) : to;
    for (let at = from; at < end; at++) {
      const line = lines[at];
      if (rows.length >= shown) return { rows, more: lines.length - at };
      if (line) rows.push({ kind: 'line', line });
    }
    if (end < to) rows.push({ kind: 'fold', fold: from, count: to - end });
  }
  return { rows, more: 0 };
}

function useColours({ oldText, newText }: Change, path: string): Colours {
  const [colours, setColours] = useState<Colours>(() => ({
    old: oldText ? highlighted(oldText, path) : undefined,
    now: highlighted(newText, path),
  }));
  useEffect(() => {
    const stop = new AbortController();
    const ask = (text: string | null | undefined): Promise<readonly CodeLine[] | undefined> =>
      text ? highlight(text, path, stop.signal) : Promise.resolve(undefined);
    void Promise.all([ask(oldText), ask(newText)]).then(([old, now]) => {
      if (!stop.signal.aborted) setColours({ old, now });
    });
    return () => stop.abort();
  }, [oldText, newText, path]);
  return colours;
}

/** Two columns of code need their room, wherever the diff stands. */
function useIsWide(box: { current: HTMLElement | null }): boolean {
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWide((entry?.contentRect.width ?? 0) >= SIDE_BY_SIDE_WIDTH));
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [box]);
  return isWide;
}
