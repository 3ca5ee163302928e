/** The wire as it is, for the curious and for bug reports. It is drawn a few times a second, and asks the server for nothing but a round trip. */
import { Pause, Play, X } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { usePage } from '../page.tsx';
import type { Frame } from '../server/frames.ts';
import { cut, lastCursor, lastFrames, type Wire, wire } from '../server/wire-tap.ts';
import { route } from '../state/route.ts';
import { show } from '../state/shell.ts';
import { useStore } from '../state/store.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { FrameLine } from './frame-line.tsx';
import { STATUS_TEXTS } from './status.ts';
import { steady } from './steady.ts';
import { CopyReport } from './wire-report.tsx';
import './wire-panel.css';

const SHOWN = 100;

export function WirePanel() {
  const { client } = usePage();
  const now = useStore(wire);
  const title = useId();
  const [isPaused, setPaused] = useState(false);
  const [filter, setFilter] = useState('');
  // A round trip to show: of a quiet connection the last one may be old.
  useEffect(() => void client.request('_pixir/sessions/watch', {}).catch(() => undefined), [client]);

  return (
    <aside className="panel wire" aria-labelledby={title}>
      <div className="panel-head">
        <h2 id={title}>Wire</h2>
        <IconButton icon={X} label="Close the wire" small onClick={() => show({ panel: 'none' })} />
      </div>
      <div className="panel-body">
        <Facts now={now} />
        <div className="wire-actions">
          <Button small onClick={cut} title="As the network would. The client comes back with its cursor.">
            Cut the connection
          </Button>
          <CopyReport />
        </div>
        <div className="wire-filter">
          <input
            className="input"
            type="search"
            aria-label="Filter frames"
            placeholder="Filter frames"
            value={filter}
            onChange={(event) => setFilter(event.currentTarget.value)}
          />
          <IconButton
            icon={isPaused ? Play : Pause}
            label={isPaused ? 'Go on' : 'Pause'}
            aria-pressed={isPaused}
            onClick={() => setPaused(!isPaused)}
          />
        </div>
        <Frames filter={filter} isPaused={isPaused} />
      </div>
    </aside>
  );
}

function Facts({ now }: { now: Wire }) {
  const kind = useStore(steady, ({ status }) => status.kind);
  const sessionId = useStore(route, (where) => (where.page === 'session' ? where.sessionId : ''));
  const cursor = lastCursor(sessionId);
  return (
    <dl className="wire-facts">
      <dt>State</dt>
      <dd>{STATUS_TEXTS[kind]}</dd>
      <dt>Connections</dt>
      <dd>{now.connections}</dd>
      <dt>Frames in</dt>
      <dd>{now.received.toLocaleString('en')}</dd>
      <dt>Frames out</dt>
      <dd>{now.sent.toLocaleString('en')}</dd>
      <dt>Round trip</dt>
      <dd>{now.latencyMs === undefined ? 'unknown' : `${Math.round(now.latencyMs)} ms`}</dd>
      <dt>Cursor</dt>
      <dd className="wire-cursor">{cursor ?? 'none yet'}</dd>
    </dl>
  );
}

/** Newest first. */
function Frames({ filter, isPaused }: { filter: string; isPaused: boolean }) {
  const held = useRef<readonly Frame[]>([]);
  if (!isPaused || held.current.length === 0) held.current = lastFrames().slice();
  const wanted = filter.trim().toLowerCase();
  const matching = held.current.filter(
    ({ text, method }) => wanted === '' || `${method ?? ''} ${text}`.toLowerCase().includes(wanted),
  );
  if (matching.length === 0)
    return <p className="wire-none">{wanted === '' ? 'Nothing yet.' : 'No frame has this.'}</p>;
  return (
    <ol className="wire-frames" aria-label="Frames, newest first">
      {matching
        .slice(-SHOWN)
        .reverse()
        .map((frame) => (
          <FrameLine key={frame.number} frame={frame} />
        ))}
    </ol>
  );
}
