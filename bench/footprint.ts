/** What one more idle connection, and one more idle Session, costs the server in memory. */
import type { Group } from './context.ts';
import { quantile, repeat } from './measure.ts';
import { probe } from './probe.ts';
import type { Running } from './processes.ts';
import type { Row } from './report.ts';
import { openWebSocket } from './wires.ts';
import { startWebSocketFloor } from './ws-floor.ts';

const STEPS = 8;
const CONNECTIONS = 500;
const SESSIONS = 1_000;
const AT_ONCE = 100;
const CONNECTION_AIM = { value: 24, better: 'lower' } as const;
const SESSION_AIM = { value: 8, better: 'lower' } as const;

/** KiB for each. */
interface Growth {
  /** While the heap itself still grows with the traffic, and when it has grown. */
  first: number;
  steady: number;
  /** Of the objects alone. */
  heap: number;
}

export const footprint: Group = async ({ agents }) => {
  const floor = await startWebSocketFloor(true);
  const bare = await growth(floor, CONNECTIONS, () => openWebSocket(floor, () => undefined));
  await floor.stop();
  const server = await agents.serve('ours', { probed: true });
  const connection = await growth(server, CONNECTIONS, () => server.connect());
  await server.stop();

  const sessions = async (name: 'ours' | 'sdk') => {
    const agent = await agents.serve(name, { probed: true });
    const client = await agent.connect();
    const session = await growth(agent, SESSIONS, () => client.newSession(agents.workspace));
    await agent.stop();
    return session;
  };
  const [sdkSession, session] = [await sessions('sdk'), await sessions('ours')];
  return {
    title: 'Resident memory of what is idle, after a garbage collection (WebSocket)',
    floor: 'floor',
    rows: [
      ...rowsOf('a connection, initialized', CONNECTIONS, connection, bare, 'bare ws', CONNECTION_AIM),
      ...rowsOf('a Session, attached', SESSIONS, session, sdkSession, 'SDK agent', SESSION_AIM),
    ],
  };
};

/** Step by step, because what the first ones cost is mostly V8 making room for the traffic. */
async function growth(server: Running, count: number, add: () => Promise<unknown>): Promise<Growth> {
  let before = await probe(server);
  const steps = await repeat(STEPS, async () => {
    await repeat(count / AT_ONCE, () => Promise.all(Array.from({ length: AT_ONCE }, add)));
    const after = await probe(server);
    const kib = (part: 'rss' | 'heapUsed') => (after[part] - before[part]) / 1024 / count;
    const step = { resident: kib('rss'), heap: kib('heapUsed') };
    before = after;
    return step;
  });
  const steady = steps.slice(STEPS / 2);
  return {
    first: steps[0]?.resident ?? Number.NaN,
    steady: quantile(steady.map(({ resident }) => resident)),
    heap: quantile(steady.map(({ heap }) => heap)),
  };
}

function rowsOf(name: string, count: number, ours: Growth, floor: Growth, what: string, aim: Row['aim'] & {}): Row[] {
  const total = count * STEPS;
  const note = `floor: ${what}; each of the second half of ${total.toLocaleString('en')}`;
  return [
    { name, unit: 'KiB', floor: floor.steady, ours: ours.steady, aim, note },
    { name: '  objects on the heap alone', unit: 'KiB', floor: floor.heap, ours: ours.heap },
    { name: `  each of the first ${count}`, unit: 'KiB', floor: floor.first, ours: ours.first },
  ];
}
