/** The lines of a change as a table: one column of code, or two. Every character is text; what cannot be seen is escaped. */
import { Fragment, memo, useMemo } from 'react';
import type { CodeLine } from '../conversation/highlight.ts';
import { names } from '../ui/button.tsx';
import { type Line, pairsOf } from './comparison.ts';
import { visible } from './plain-text.ts';
import { piecesOf, type Range, wordMarks } from './word-marks.ts';
import { counted } from './words.ts';
import '../conversation/code.css';

export type Row = { kind: 'line'; line: Line } | { kind: 'fold'; fold: number; count: number };

export interface Colours {
  old: readonly CodeLine[] | undefined;
  now: readonly CodeLine[] | undefined;
}

interface DiffRowsProps {
  label: string;
  rows: readonly Row[];
  isSplit: boolean;
  isWhole: boolean;
  colours: Colours;
  onUnfold(fold: number): void;
}

export function DiffRows({ label, rows, isSplit, isWhole, colours, onUnfold }: DiffRowsProps) {
  const groups = useMemo(() => groupsOf(rows), [rows]);
  const marks = useMemo(() => wordMarks(rows.flatMap((row) => (row.kind === 'line' ? [row.line] : []))), [rows]);
  const draw = { colours, marks, isWhole };
  const columns = columnsOf(isSplit, isWhole);
  const Body = isSplit ? SplitLines : UnifiedLines;

  return (
    <table className={names('diff-table', isSplit && 'diff-split')}>
      <caption className="visually-hidden">{label}</caption>
      {/* The first row may be a fold: widths are the columns'. */}
      <colgroup>
        {columns.map(([column, place]) => (
          <col key={`${column} ${place}`} className={`diff-${column}`} />
        ))}
      </colgroup>
      <tbody>
        {groups.map(({ lines, fold }) => (
          <Fragment key={fold ? `fold ${fold.fold}` : keyOf(lines[0])}>
            <Body lines={lines} draw={draw} />
            {fold && (
              <tr className="diff-fold">
                <td colSpan={columns.length}>
                  <button type="button" onClick={() => onUnfold(fold.fold)}>
                    {counted(fold.count, 'unchanged line')}
                  </button>
                </td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

/** What each column holds, and of which text. */
function columnsOf(isSplit: boolean, isWhole: boolean): (readonly [column: string, place: string])[] {
  const numbers = (place: string) => (isWhole ? [['number', place] as const] : []);
  const code = (place: string) => [['sign', place] as const, ['code', place] as const];
  if (!isSplit) return [...numbers('old'), ...numbers('new'), ...code('both')];
  return ['old', 'new'].flatMap((place) => [...numbers(place), ...code(place)]);
}

interface Draw {
  colours: Colours;
  marks: ReadonlyMap<Line, readonly Range[]>;
  /** Else the texts are pieces of a file: their line numbers and their ends mean nothing. */
  isWhole: boolean;
}

interface Group {
  lines: Line[];
  fold?: Extract<Row, { kind: 'fold' }>;
}

/** Lines that stand together, each group ended by its fold. */
function groupsOf(rows: readonly Row[]): Group[] {
  const groups: Group[] = [{ lines: [] }];
  for (const row of rows) {
    const last = groups.at(-1);
    if (row.kind === 'line') last?.lines.push(row.line);
    else {
      if (last) last.fold = row;
      groups.push({ lines: [] });
    }
  }
  return groups;
}

function keyOf(line: Line | undefined): string {
  return `${line?.kind} ${line?.old} ${line?.now}`;
}

function UnifiedLines({ lines, draw }: { lines: readonly Line[]; draw: Draw }) {
  return lines.map((line) => (
    <tr key={keyOf(line)} className={`diff-${line.kind}`}>
      {draw.isWhole && <td className="diff-number">{line.old}</td>}
      {draw.isWhole && <td className="diff-number">{line.now}</td>}
      <td className="diff-sign">{SIGNS[line.kind]}</td>
      <Code line={line} draw={draw} />
    </tr>
  ));
}

function SplitLines({ lines, draw }: { lines: readonly Line[]; draw: Draw }) {
  return pairsOf(lines).map(({ left, right }) => (
    <tr key={`${keyOf(left)} ${keyOf(right)}`}>
      <Side line={left} number={left?.old} draw={draw} />
      <Side line={right} number={right?.now} draw={draw} />
    </tr>
  ));
}

function Side({ line, number, draw }: { line: Line | undefined; number: number | undefined; draw: Draw }) {
  if (!line) return <td className="diff-nothing" colSpan={draw.isWhole ? 3 : 2} />;
  const kind = `diff-${line.kind}`;
  return (
    <>
      {draw.isWhole && <td className={`diff-number ${kind}`}>{number}</td>}
      <td className={`diff-sign ${kind}`}>{SIGNS[line.kind]}</td>
      <Code line={line} draw={draw} className={kind} />
    </>
  );
}

const SIGNS: Record<Line['kind'], string> = { same: ' ', add: '+', del: '−' };

function Code({ line, draw, className }: { line: Line; draw: Draw; className?: string }) {
  const { old, now } = draw.colours;
  const colours = line.now === undefined ? old?.[(line.old ?? 0) - 1] : now?.[line.now - 1];
  return (
    <td className={names('diff-code', className)}>
      <CodeText line={line} colours={colours} marks={draw.marks.get(line)} />
      {draw.isWhole && line.unended && <span className="diff-unended"> no line end</span>}
    </td>
  );
}

interface CodeTextProps {
  line: Line;
  colours: CodeLine | undefined;
  marks: readonly Range[] | undefined;
}

const CodeText = memo(function CodeText({ line, colours, marks = [] }: CodeTextProps) {
  return piecesOf(line.text, colours, marks).map(({ text, kind, isMarked }, index) => {
    const className = names(kind && `code-${kind}`, isMarked && 'diff-word');
    if (className === '') return visible(text);
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line never move.
      <span key={index} className={className}>
        {visible(text)}
      </span>
    );
  });
});
