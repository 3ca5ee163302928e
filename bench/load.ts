/** How fast a long Session comes back: `session/load` of 200 Turns with a tool call each. */
import type { Client } from './client.ts';
import { type Context, type Group, TRANSPORTS } from './context.ts';
import { lastRows } from './log-floor.ts';
import { now, quantile, repeat } from './measure.ts';
import { scratchDirectory } from './processes.ts';
import type { Row } from './report.ts';

export const TURNS = 200;
const AIM = { value: 250_000, better: 'higher' } as const;
const LOADS = 15;
const RESTARTS = 5;

export const load: Group = async (context) => {
  const dataDir = scratchDirectory('data');
  const sessionId = await writeHistory(context, dataDir);
  const rows: Row[] = [];
  for (const transport of TRANSPORTS) {
    const cold: Replay[] = [];
    let warm: Replay[] = [];
    for (let restart = 0; restart < RESTARTS; restart++) {
      const agent = await context.agents.start('ours', transport, dataDir);
      const client = await agent.connect();
      const load = () => loadSession(context, client, sessionId);
      cold.push(await load());
      if (restart === RESTARTS - 1) warm = await repeat(LOADS, load);
      await agent.stop();
    }
    const floor = transport === 'WebSocket' ? await replayFloor(warm) : undefined;
    rows.push(
      ...replayRows(`${transport}, warm`, warm, floor?.warm),
      ...replayRows(`${transport}, first after a restart`, cold, floor?.first),
    );
  }
  return { title: `session/load of ${TURNS} Turns with a read call`, floor: 'ws + SQLite', rows };
};

/** @returns the Session's id */
export async function writeHistory({ agents }: Context, dataDir: string): Promise<string> {
  const agent = await agents.start('ours', 'WebSocket', dataDir);
  const client = await agent.connect();
  const sessionId = await client.newSession(agents.workspace);
  for (let turn = 0; turn < TURNS; turn++) await client.prompt(sessionId, 'read note.txt');
  await agent.stop();
  return sessionId;
}

/** One time that a client was sent everything. */
export interface Replay {
  ms: number;
  updates: number;
  bytes: number;
}

async function loadSession({ agents }: Context, client: Client, sessionId: string): Promise<Replay> {
  client.takeTally();
  const began = now();
  await client.request('session/load', { sessionId, cwd: agents.workspace, mcpServers: [] });
  return { ms: now() - began, ...client.takeTally() };
}

/** What the same number of updates of the same length costs at least. */
export function replayFloor([replay]: readonly Replay[]): ReturnType<typeof lastRows> {
  if (!replay) throw new Error('nothing was measured');
  return lastRows(replay.updates, replay.bytes / replay.updates);
}

/** @param floor in milliseconds. */
export function replayRows(name: string, replays: readonly Replay[], floor?: number): Row[] {
  const ours = quantile(replays.map(({ ms }) => ms));
  const { updates = 0, bytes = 0 } = replays[0] ?? {};
  const rate = (ms: number) => (updates / ms) * 1_000;
  const floors = (figure: (ms: number) => number) => (floor === undefined ? {} : { floor: figure(floor) });
  const note = `${updates} updates of ${(bytes / updates).toFixed(0)} B`;
  return [
    { name, unit: 'updates/s', ...floors(rate), ours: rate(ours), aim: AIM, note },
    { name: '  all of them', unit: 'ms', ...floors((ms) => ms), ours },
  ];
}
