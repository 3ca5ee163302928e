/** How fast a client that has nothing gets a whole Session: `_pixir/session/attach` without a cursor. */
import type { Client } from './client.ts';
import type { Context, Group } from './context.ts';
import { type Replay, replayFloor, replayRows, TURNS, writeHistory } from './load.ts';
import { now, repeat } from './measure.ts';
import { scratchDirectory } from './processes.ts';

const TIMES = 40;
const WARM_UP = 10;
const RESTARTS = 5;

export const backfill: Group = async (context) => {
  const dataDir = scratchDirectory('data');
  const sessionId = await writeHistory(context, dataDir);
  const cold: Replay[] = [];
  for (let restart = 0; restart < RESTARTS; restart++) {
    cold.push(...(await backfills(context, dataDir, async (client) => [await attach(client, sessionId)])));
  }
  const alone = await backfills(context, dataDir, (client) => repeatedly(client, sessionId));
  const shared = await backfills(context, dataDir, async (client, other) => {
    await other.request('_pixir/session/attach', { sessionId, cursor: 'head' });
    return repeatedly(client, sessionId);
  });
  const floor = await replayFloor(shared);
  return {
    title: `Backfill of ${TURNS} Turns with a read call (WebSocket)`,
    floor: 'ws + SQLite',
    rows: [
      ...replayRows('somebody else watches', shared, floor.warm),
      ...replayRows('nobody else watches', alone, floor.warm),
      ...replayRows('first after a restart', cold, floor.first),
    ],
  };
};

/** On a server of its own, with two clients. */
async function backfills(
  { agents }: Context,
  dataDir: string,
  measure: (client: Client, other: Client) => Promise<Replay[]>,
): Promise<Replay[]> {
  const server = await agents.serve('ours', { dataDir });
  const measured = await measure(await server.connect({ cursors: true }), await server.connect({ cursors: true }));
  await server.stop();
  return measured;
}

async function repeatedly(client: Client, sessionId: string): Promise<Replay[]> {
  return (await repeat(TIMES, () => attach(client, sessionId))).slice(WARM_UP);
}

async function attach(client: Client, sessionId: string): Promise<Replay> {
  client.takeTally();
  const began = now();
  const caughtUp = client.notified('_pixir/session/caught_up');
  await client.request('_pixir/session/attach', { sessionId });
  await caughtUp;
  const ms = now() - began;
  await client.request('_pixir/session/detach', { sessionId });
  return { ms, ...client.takeTally() };
}
