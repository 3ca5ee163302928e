/** One Event as it stands in the Log, to read and to copy. It is read when it is opened, and shown as text. */
import { useEffect, useState } from 'react';
import type { LoggedEvent } from '../../../src/client/connect.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import type { LogReader } from './log-reader.ts';

type Whole = { kind: 'reading' } | { kind: 'read'; json: string } | { kind: 'none'; why: string };

/** More than this is cut for the eye, never for copying. */
const SHOWN = 100_000;

export function EventDetail({ seq, reader }: { seq: number; reader: LogReader }) {
  const whole = useWhole(seq, reader);
  if (whole.kind === 'none') return <p className="event-note">{whole.why}</p>;
  if (whole.kind === 'reading') return <p className="event-note">Reading…</p>;
  const { json } = whole;
  return (
    <div className="event-detail">
      <span className="event-copy">
        <CopyButton text={json} label={`Copy Event ${seq}`} />
      </span>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, for the keyboard as well. */}
      <section className="event-json" tabIndex={0} aria-label={`Event ${seq} as JSON`}>
        <pre>{json.slice(0, SHOWN)}</pre>
      </section>
      {json.length > SHOWN && <p className="event-note">Shown up to here. Copy has all of it.</p>}
    </div>
  );
}

function useWhole(seq: number, reader: LogReader): Whole {
  const [whole, setWhole] = useState<Whole>({ kind: 'reading' });
  useEffect(() => {
    let isGone = false;
    reader.whole(seq).then(
      (event) => !isGone && setWhole(wholeOf(event)),
      () => !isGone && setWhole({ kind: 'none', why: 'It could not be read now. Close and open it to try again.' }),
    );
    return () => {
      isGone = true;
    };
  }, [seq, reader]);
  return whole;
}

function wholeOf(logged: LoggedEvent | undefined): Whole {
  if (logged?.event === undefined) return { kind: 'none', why: 'This Event is too large to be shown here.' };
  return { kind: 'read', json: JSON.stringify(logged.event, null, 2) };
}
