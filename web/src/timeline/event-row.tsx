/** One Event in the list: a row of the table, and below it, when it is open, all of it. */
// biome-ignore-all lint/a11y: parts of the table of event-table.tsx. A row hears the clicks on its button, which is there for the keyboard.
import { ChevronRight, TriangleAlert } from 'lucide-react';
import { memo } from 'react';
import type { LoggedEvent } from '../../../src/client/connect.ts';
import { bytesText, timeText } from '../composer/format.ts';
import { names } from '../ui/button.tsx';
import { EventDetail } from './event-detail.tsx';
import { familyOf } from './families.ts';
import type { LogReader } from './log-reader.ts';

export const COLUMNS = ['Seq', 'Time', 'Type', 'Who', 'Size', 'Check value'];

interface RowProps {
  event: LoggedEvent;
  /** Of the whole table, its head included. */
  rowIndex: number;
  isOpen: boolean;
  /** The one that Tab goes to; arrow keys go to the others. */
  isCurrent: boolean;
  /** Why the chain breaks here. */
  broken: string | undefined;
  reader: LogReader;
  onToggle(seq: number): void;
}

export const EventRow = memo(function EventRow(props: RowProps) {
  const { event, rowIndex, isOpen, isCurrent, broken, reader, onToggle } = props;
  const { seq, type, ts, by, size, chk } = event;
  return (
    <>
      <div
        role="row"
        aria-rowindex={rowIndex}
        className={names('log-row', isOpen && 'open', broken !== undefined && 'broken')}
        onClick={() => onToggle(seq)}
      >
        <span role="cell" className="log-seq">
          <button
            type="button"
            className="log-open"
            data-seq={seq}
            aria-expanded={isOpen}
            aria-label={`Event ${seq}`}
            tabIndex={isCurrent ? 0 : -1}
          >
            <ChevronRight size={14} aria-hidden />
            {seq}
          </button>
        </span>
        <time role="cell" className="log-time" dateTime={ts} title={ts}>
          {timeText(ts, new Date())}
        </time>
        <span role="cell" className={names('log-type', `family-${familyOf(type)}`)}>
          {type}
          {broken !== undefined && (
            <span className="log-broken">
              <TriangleAlert size={13} aria-hidden /> {broken}
            </span>
          )}
        </span>
        <span role="cell" className="log-by" title={by}>
          {by}
        </span>
        <span role="cell" className="log-size">
          {bytesText(size)}
        </span>
        <span role="cell" className="log-check">
          {chk}
        </span>
      </div>
      {isOpen && (
        <div role="row" className="log-whole">
          <div role="cell" aria-colspan={COLUMNS.length}>
            <EventDetail seq={seq} reader={reader} />
          </div>
        </div>
      )}
    </>
  );
});
