/** How fast a long Session comes back: `session/load` of 200 Turns with a tool call each. */
import type { Agent } from './agents.ts';
import { type Context, type Group, TRANSPORTS } from './context.ts';
import { now, quantile, repeat } from './measure.ts';
import { scratchDirectory } from './processes.ts';
import type { Row } from './report.ts';

const TURNS = 200;
const LOADS = 15;
const RESTARTS = 5;

export const load: Group = async (context) => {
  const dataDir = scratchDirectory('data');
  const sessionId = await writeHistory(context, dataDir);
  const rows: Row[] = [];
  for (const transport of TRANSPORTS) {
    const cold: Loaded[] = [];
    let warm: Loaded[] = [];
    for (let restart = 0; restart < RESTARTS; restart++) {
      const agent = await context.agents.start('ours', transport, dataDir);
      const client = await agent.connect();
      const load = () => loadSession(context, client, sessionId);
      cold.push(await load());
      if (restart === RESTARTS - 1) warm = await repeat(LOADS, load);
      await agent.stop();
    }
    rows.push(...rowsOf(`${transport}, warm`, warm), ...rowsOf(`${transport}, first after a restart`, cold));
  }
  return { title: `session/load of ${TURNS} Turns with a read call`, floor: '', rows };
};

/** @returns the Session's id */
async function writeHistory({ agents }: Context, dataDir: string): Promise<string> {
  const agent = await agents.start('ours', 'WebSocket', dataDir);
  const client = await agent.connect();
  const sessionId = await client.newSession(agents.workspace);
  for (let turn = 0; turn < TURNS; turn++) await client.prompt(sessionId, 'read note.txt');
  await agent.stop();
  return sessionId;
}

interface Loaded {
  ms: number;
  updates: number;
}

type Client = Awaited<ReturnType<Agent['connect']>>;

async function loadSession({ agents }: Context, client: Client, sessionId: string): Promise<Loaded> {
  client.takeTally();
  const began = now();
  await client.request('session/load', { sessionId, cwd: agents.workspace, mcpServers: [] });
  return { ms: now() - began, updates: client.takeTally().updates };
}

function rowsOf(name: string, loaded: Loaded[]): Row[] {
  const ms = quantile(loaded.map((one) => one.ms));
  const updates = quantile(loaded.map((one) => one.updates));
  return [
    { name, unit: 'ms', ours: ms, note: `${updates} updates` },
    { name: `  ${name}`, unit: 'updates/s', ours: (updates / ms) * 1_000 },
  ];
}
