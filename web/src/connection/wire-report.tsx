/** Copies what a bug report needs. Contents are in it only when the person says so, for this once. */
import { useState } from 'react';
import { usePage } from '../page.tsx';
import type { Client } from '../server/client.ts';
import { lastCursor, lastFrames, wireNow } from '../server/wire-tap.ts';
import { route } from '../state/route.ts';
import { Button } from '../ui/button.tsx';
import { copyText } from '../ui/copy.ts';
import { reportText } from './report.ts';

export function CopyReport() {
  const { client } = usePage();
  const [withContents, setWithContents] = useState(false);
  const [result, setResult] = useState('');

  async function copy(): Promise<void> {
    const text = reportText({ facts: factsOf(client), frames: lastFrames(), withContents });
    const done = copyText(text).then(() => 'Copied');
    setResult(await done.catch(() => 'This browser did not copy it'));
    setTimeout(setResult, 2_500, '');
  }
  return (
    <>
      <Button small onClick={() => void copy()}>
        {result || 'Copy for a bug report'}
      </Button>
      <label className="wire-check">
        <input
          type="checkbox"
          checked={withContents}
          onChange={(event) => setWithContents(event.currentTarget.checked)}
        />
        Include contents: messages, files, arguments
      </label>
      <span className="visually-hidden" role="status">
        {result}
      </span>
    </>
  );
}

function factsOf({ server, state }: Client): [string, string][] {
  const { connections, received, sent, latencyMs, sinceOpen, lastStatus } = wireNow();
  const where = route.get();
  const cursor = where.page === 'session' ? lastCursor(where.sessionId) : undefined;
  const script = document.querySelector<HTMLScriptElement>('script[src]')?.src ?? '';
  return [
    ['Server', server?.agentInfo ? `${server.agentInfo.name} ${server.agentInfo.version}` : 'never connected'],
    ['Page', script.slice(script.lastIndexOf('/') + 1)],
    ['Browser', navigator.userAgent],
    ['State', state.kind],
    ['Connections', String(connections)],
    ['Frames', `${received} in, ${sent} out, ${sinceOpen} updates since the last connection opened`],
    ['Round trip', latencyMs === undefined ? 'unknown' : `${Math.round(latencyMs)} ms`],
    ['Last refusal', lastStatus === undefined ? 'none' : String(lastStatus)],
    ['Cursor', cursor ?? 'none'],
  ];
}
