/** How the connection is, in one line; and a banner that says what that means, while it is not as it should be. It shows the steady state only. */
import { CircleSlash, CloudOff, RefreshCw, Unplug } from 'lucide-react';
import { useEffect, useState } from 'react';
import { usePage } from '../page.tsx';
import { wire } from '../server/wire-tap.ts';
import { route } from '../state/route.ts';
import { show, togglePanel } from '../state/shell.ts';
import { useStore } from '../state/store.ts';
import { Button, names } from '../ui/button.tsx';
import { caughtUp, duration, explanation, STATUS_TEXTS, type Status } from './status.ts';
import { isAlarm, type Steady, steady } from './steady.ts';
import './connection.css';

/** Where a Session is on the screen, it opens the wire panel. */
export function ConnectionIndicator() {
  const now = useStore(steady);
  const isSession = useStore(route, ({ page }) => page === 'session');
  const latency = useStore(wire, ({ latencyMs }) => (latencyMs === undefined ? undefined : Math.round(latencyMs)));
  const line = (
    <>
      <span className={names('connection-dot', now.status.kind)} aria-hidden />
      <span className="connection-text">{STATUS_TEXTS[now.status.kind]}</span>
      <span className="connection-more">
        <More {...now} />
      </span>
    </>
  );
  const tip = `${explanation(now.status, undefined)}${latency === undefined ? '' : ` Round trip: ${latency} ms.`}`;
  if (!isSession)
    return (
      <span className="connection-indicator" title={tip}>
        {line}
      </span>
    );
  return (
    <button type="button" className="connection-indicator" title={`${tip} Click to see the wire.`} onClick={showWire}>
      <span className="visually-hidden">Connection:</span>
      {line}
    </button>
  );
}

/** On a phone the list would hide it. */
function showWire(): void {
  show({ drawer: false });
  togglePanel('wire');
}

function More({ status, lostAt, cameBackWith }: Steady) {
  switch (status.kind) {
    case 'live':
      return cameBackWith === undefined ? null : caughtUp(cameBackWith);
    case 'catching_up':
      return <CaughtUp />;
    case 'reconnecting':
    case 'offline':
      return <Since at={lostAt} />;
    case 'connecting':
    case 'refused':
      return null;
  }
}

/** What came since the connection opened. */
function CaughtUp() {
  const count = useStore(wire, ({ sinceOpen }) => sinceOpen);
  return count === 0 ? null : count.toLocaleString('en');
}

function Since({ at }: { at: number | undefined }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return at === undefined ? null : duration(Math.max(0, now - at));
}

/** Above the main column; nothing while all is well. */
export function ConnectionBanner() {
  const { status, lostAt } = useStore(steady);
  const lastStatus = useStore(wire, ({ lastStatus }) => lastStatus);
  if (!isAlarm(status)) return null;
  return (
    <section className={names('connection-banner', status.kind)} aria-label="Connection">
      <Sign status={status} />
      <p>
        <strong>{STATUS_TEXTS[status.kind]}</strong>
        {status.kind !== 'refused' && (
          <span className="connection-since">
            <Since at={lostAt} />
          </span>
        )}
        <span className="connection-why">{explanation(status, lastStatus)}</span>
      </p>
      <Remedy status={status} />
    </section>
  );
}

function Sign({ status }: { status: Status }) {
  if (status.kind === 'offline') return <CloudOff size={16} aria-hidden />;
  if (status.kind === 'refused') return <CircleSlash size={16} aria-hidden />;
  return <Unplug size={16} aria-hidden />;
}

function Remedy({ status }: { status: Status }) {
  const { client } = usePage();
  const isTrying = useStore(wire, ({ isTrying }) => isTrying);
  if (status.kind === 'refused' && status.reason === 'protocol')
    return (
      <Button small onClick={() => location.reload()}>
        Reload
      </Button>
    );
  return (
    <Button small aria-disabled={isTrying} onClick={() => client.retry()}>
      <RefreshCw size={14} aria-hidden />
      {isTrying ? 'Trying…' : 'Try now'}
    </Button>
  );
}
