/** How long somebody who comes back in the middle of a sentence waits until nothing is missing any more. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from './client.ts';
import type { Group } from './context.ts';
import { startLogFloor } from './log-floor.ts';
import { now, quantile, repeat } from './measure.ts';
import { DELTA_LENGTH } from './model-script.ts';

const RECONNECTS = 60;
const WARM_UP = 10;
const PACE_MS = 5;
/** Far more than are streamed before the last of the reconnects. */
const DELTAS = 6_000;
/** How long a client watches before it goes, and how long it is away. */
const HERE_MS = 20;
const AWAY_MS = 50;
const AIM = { value: 3, better: 'lower' } as const;

interface Reconnected {
  total: number;
  attach: number;
}

export const reconnect: Group = async ({ agents }) => {
  const server = await agents.serve('ours');
  const writer = await server.connect({ cursors: true });
  const sessionId = await writer.newSession(agents.workspace);
  const text = `paced ${DELTAS} ${PACE_MS}`;
  const answered = writer.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  // It is not waited for: the server is stopped before.
  answered.catch(() => undefined);
  while (writer.takeTally().chunks === 0) await delay(HERE_MS);
  let cursor = writer.cursor();
  let missed = 0;
  const times = await repeat(RECONNECTS, async (): Promise<Reconnected> => {
    await delay(AWAY_MS);
    const began = now();
    const client = await server.connect({ cursors: true });
    const connected = now();
    await attach(client, sessionId, cursor);
    const ended = now();
    missed = client.takeTally().characters / DELTA_LENGTH;
    await delay(HERE_MS);
    cursor = client.cursor();
    client.close();
    return { total: ended - began, attach: ended - connected };
  });
  await server.stop();
  const floor = await reconnectToFloor();
  const note = `the last one had missed ${missed} deltas of ${PACE_MS} ms, in the middle of one message`;
  return {
    title: 'Reconnect in mid-stream (WebSocket)',
    floor: 'ws + SQLite',
    rows: [
      { name: 'attach to caught_up', unit: 'ms', ...medians('attach', times, floor), aim: AIM, note },
      { name: '  with connecting and initialize', unit: 'ms', ...medians('total', times, floor) },
    ],
  };
};

async function attach(client: Client, sessionId: string, cursor: string): Promise<void> {
  const caughtUp = client.notified('_pixir/session/caught_up');
  const { mode } = await client.request<{ mode: string }>('_pixir/session/attach', { sessionId, cursor });
  if (mode === 'reset') throw new Error(`the cursor was refused`);
  await caughtUp;
}

/** One row: what was missed of one message is one update. */
async function reconnectToFloor(): Promise<Reconnected[]> {
  const floor = await startLogFloor(1, 200);
  const times = await repeat(RECONNECTS, async () => {
    const began = now();
    const client = await floor.connect();
    const connected = now();
    await client.last(1);
    const ended = now();
    client.close();
    await delay(HERE_MS);
    return { total: ended - began, attach: ended - connected };
  });
  await floor.stop();
  return times;
}

function medians(part: keyof Reconnected, ours: Reconnected[], floor: Reconnected[]) {
  const median = (times: Reconnected[]) => quantile(times.slice(WARM_UP).map((time) => time[part]));
  return { ours: median(ours), floor: median(floor) };
}
