/** A hundred Sessions that stream at the same time: whether the server's event loop still breathes. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Group } from './context.ts';
import { repeat } from './measure.ts';
import { probe, type Reading } from './probe.ts';
import type { Row } from './report.ts';
import { openWebSocket } from './wires.ts';
import { startWebSocketFloor } from './ws-floor.ts';

const CLIENTS = 10;
const SESSIONS_EACH = 10;
const PACES_MS = [10, 50];
const WARM_UP_MS = 500;
const MEASURED_MS = 3_000;
const AIM = { value: 10, better: 'lower' } as const;

/** Has everybody streamed to for this long. */
type Stream = (ms: number) => Promise<unknown>;

export const sessions100: Group = async (context) => {
  const rows: Row[] = [];
  for (const pace of PACES_MS) {
    const [floor, ours] = [await streamFloor(pace), await streamSessions(context, pace)];
    const busy = (of: Reading) => `${(100 * of.busy).toFixed(0)} %`;
    const note = `busy: floor ${busy(floor)}, ours ${busy(ours)} of a core`;
    rows.push(
      { name: `a delta every ${pace} ms, p99`, unit: 'ms', floor: floor.loop.p99, ours: ours.loop.p99, aim: AIM, note },
      { name: '  median', unit: 'ms', floor: floor.loop.median, ours: ours.loop.median },
      { name: '  worst', unit: 'ms', floor: floor.loop.worst, ours: ours.loop.worst },
    );
  }
  const what = `${CLIENTS * SESSIONS_EACH} Sessions on ${CLIENTS} connections`;
  return { title: `${what}: period of a 1 ms timer inside the server`, floor: 'ws', rows };
};

async function streamSessions({ agents }: Context, pace: number): Promise<Reading> {
  const server = await agents.serve('ours', { probed: true });
  const clients = await repeat(CLIENTS, () => server.connect());
  const sessions = await Promise.all(
    clients.flatMap((client) =>
      Array.from({ length: SESSIONS_EACH }, async () => ({ client, id: await client.newSession(agents.workspace) })),
    ),
  );
  const reading = await read(server, (ms) => {
    const prompt = [{ type: 'text', text: `paced ${ms / pace} ${pace}` }];
    return Promise.all(sessions.map(({ client, id }) => client.request('session/prompt', { sessionId: id, prompt })));
  });
  await server.stop();
  return reading;
}

async function streamFloor(pace: number): Promise<Reading> {
  const floor = await startWebSocketFloor(true);
  let received = 0;
  const count = () => {
    received += 1;
  };
  const wires = await repeat(CLIENTS, () => openWebSocket(floor, count));
  const reading = await read(floor, async (ms) => {
    received = 0;
    for (const wire of wires) {
      for (let stream = 0; stream < SESSIONS_EACH; stream++) wire.send(`pace ${ms / pace} ${pace}`);
    }
    while (received < CLIENTS * SESSIONS_EACH * (ms / pace)) await delay(pace);
  });
  await floor.stop();
  return reading;
}

async function read(server: Parameters<typeof probe>[0], stream: Stream): Promise<Reading> {
  await stream(WARM_UP_MS);
  await probe(server);
  await stream(MEASURED_MS);
  return probe(server);
}
