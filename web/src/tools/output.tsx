/** A text that may be long: its beginning, and more of it part by part, so that a megabyte does not stop the page. */
import { memo, useMemo } from 'react';
import type { OpenSession } from '../state/open-session.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { useRemembered } from './card-memory.ts';
import { countLines, endOfPart, plainOutput } from './plain-text.ts';
import { counted } from './words.ts';
import './tool-body.css';

interface OutputProps {
  label: string;
  /** Behind the label. */
  note?: string | undefined;
  text: string;
  session: OpenSession | undefined;
  memoryKey: string;
}

const FIRST = { lines: 20, characters: 4_000 };
const MORE = { lines: 2_000, characters: 100_000 };
const PART = { lines: 100, characters: 10_000 };

export function Output({ label, note, text, session, memoryKey }: OutputProps) {
  const plain = useMemo(() => plainOutput(text), [text]);
  const [more = 0, setMore] = useRemembered<number>(session, `${memoryKey} parts`);
  const cuts = useMemo(() => cutsOf(plain, more), [plain, more]);
  const end = cuts.at(-1) ?? 0;
  const left = useMemo(() => countLines(plain.slice(end)), [plain, end]);

  return (
    <figure className="tool-output" aria-label={label}>
      <figcaption className="tool-output-head">
        <span>{label}</span>
        {note && <span className="tool-output-note">{note}</span>}
        <CopyButton text={text} label={`Copy: ${label}`} />
      </figcaption>
      {cuts.slice(1).map((to, index) => (
        <Part key={to} text={plain.slice(cuts[index], to).replace(/\n$/, '')} />
      ))}
      {end < plain.length && (
        <button type="button" className="tool-more" onClick={() => setMore(more + 1)}>
          {isAll(plain, end)
            ? `Show all ${counted(countLines(plain), 'line')}`
            : `Show more of ${counted(left, 'line')}`}
        </button>
      )}
      {plain === '' && <p className="tool-note">It wrote nothing.</p>}
    </figure>
  );
}

const LINE_PX = 19;

/** The browser draws those that are seen; the others have the size that they will need at least. */
const Part = memo(function Part({ text }: { text: string }) {
  return <pre style={{ containIntrinsicBlockSize: `auto ${countLines(text) * LINE_PX}px` }}>{text}</pre>;
});

/** Where the shown parts begin and end. */
function cutsOf(text: string, more: number): number[] {
  const cuts = [0, endOfPart(text, 0, FIRST.lines, FIRST.characters)];
  for (let times = 0; times < more; times++) {
    const limit = endOfPart(text, cuts.at(-1) ?? 0, MORE.lines, MORE.characters);
    for (let from = cuts.at(-1) ?? 0; from < limit; from = cuts.at(-1) ?? limit)
      cuts.push(Math.min(limit, endOfPart(text, from, PART.lines, PART.characters)));
  }
  return cuts;
}

function isAll(text: string, from: number): boolean {
  return endOfPart(text, from, MORE.lines, MORE.characters) === text.length;
}
