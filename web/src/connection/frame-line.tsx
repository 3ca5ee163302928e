/** One frame of the wire: a line, and when it is opened its content as text. It never changes, so it is drawn once. */
import { ArrowDown, ArrowUp, Plug, Unplug } from 'lucide-react';
import { memo, useState } from 'react';
import { cursorOf, type Frame, isShortened } from '../server/frames.ts';

const SIGNS = { in: ArrowDown, out: ArrowUp, opened: Plug, closed: Unplug };
const DIRECTIONS = { in: 'In', out: 'Out', opened: 'Opened', closed: 'Closed' };

export const FrameLine = memo(function FrameLine({ frame }: { frame: Frame }) {
  const { direction, at, size } = frame;
  const [isOpen, setOpen] = useState(false);
  const Sign = SIGNS[direction];
  const isFrame = direction === 'in' || direction === 'out';
  const line = (
    <>
      <Sign size={13} className={`wire-sign ${direction}`} aria-hidden />
      <span className="visually-hidden">{DIRECTIONS[direction]}</span>
      <span className="wire-what">{whatOf(frame)}</span>
      {isFrame && <span className="wire-size">{sizeText(size)}</span>}
      <time className="wire-time">{timeText(at)}</time>
    </>
  );
  if (!isFrame) return <li className="wire-frame wire-line">{line}</li>;
  return (
    <li className="wire-frame">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="wire-line">{line}</summary>
        {isOpen && <Content frame={frame} />}
      </details>
    </li>
  );
});

function Content({ frame }: { frame: Frame }) {
  const cursor = cursorOf(frame.text);
  return (
    <div className="wire-content">
      {cursor !== undefined && (
        <p>
          Cursor <code>{cursor}</code>
        </p>
      )}
      {isShortened(frame) && <p>Only its beginning and its end are kept.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must get there. */}
      <pre tabIndex={0}>{pretty(frame.text)}</pre>
    </div>
  );
}

function whatOf({ direction, method, isAnswer, text }: Frame): string {
  if (direction === 'opened' || direction === 'closed') return text;
  const name = method ?? 'unknown';
  return isAnswer ? `answer to ${name}` : name;
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function sizeText(size: number): string {
  return size < 1_000 ? `${size}` : `${(size / 1_000).toFixed(1)}k`;
}

function timeText(at: number): string {
  const date = new Date(at);
  const two = (part: number) => String(part).padStart(2, '0');
  const millis = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${millis}`;
}
