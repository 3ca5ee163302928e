/** One Session watched by many: how fast the deltas of an answer reach all of them. */
import type { Server } from './agents.ts';
import type { Context, Group } from './context.ts';
import { type Follower, openFollower } from './follower.ts';
import { now, quantile, repeat } from './measure.ts';
import { DELTA_LENGTH, deltaAt } from './model-script.ts';
import { processorTime, type Running } from './processes.ts';
import type { Row } from './report.ts';
import { startWebSocketFloor } from './ws-floor.ts';

const DELTAS = 2_000;
const LAST_DELTA = deltaAt(DELTAS - 1);
const WARM_UP = 5;
const ROUNDS = 12;
const CLIENTS = [1, 10, 50];
const AIM = { clients: 10, value: 600_000, better: 'higher' } as const;

/** One answer, from its prompt until it has reached everybody. */
interface Measured {
  ms: number;
  /** Processor time of the server. */
  server: number;
  /** The share of that time in which the measuring process worked: far from 1, or it is what is measured. */
  busy: number;
}

export const fanout: Group = async (context) => {
  const rows: Row[] = [];
  for (const clients of CLIENTS) {
    const deliveries = clients * DELTAS;
    const floor = await fanOutOfFloor(clients);
    const { measured, frames } = await fanOut(context, clients);
    rows.push(
      {
        name: `to ${clients} ${clients === 1 ? 'client' : 'clients'}`,
        unit: 'deliveries/s',
        floor: (deliveries / floor.ms) * 1_000,
        ours: (deliveries / measured.ms) * 1_000,
        ...(clients === AIM.clients ? { aim: AIM } : {}),
        note: `${frames}; the measuring process ${(100 * measured.busy).toFixed(0)} % busy`,
      },
      {
        name: '  processor time of the server',
        unit: 'µs/delivery',
        floor: (floor.server / deliveries) * 1_000,
        ours: (measured.server / deliveries) * 1_000,
      },
    );
  }
  return { title: `Fan-out of ${DELTAS} deltas, prompt to last client (WebSocket)`, floor: 'ws', rows };
};

/** One client prompts, all others follow. */
async function fanOut({ agents }: Context, clients: number) {
  const server = await agents.serve('ours');
  const writer = await server.connect({ cursors: true });
  const sessionId = await writer.newSession(agents.workspace);
  const followers = await repeat(clients - 1, () => follow(server, sessionId));
  let last = { chunks: 0, bytes: 0 };
  const measured = await measureRounds(server, followers, async () => {
    const answer = await writer.prompt(sessionId, `deltas ${DELTAS}`);
    if (answer.characters !== DELTAS * DELTA_LENGTH) throw new Error('the writer did not get the whole answer');
    last = answer;
  });
  await server.stop();
  return { measured, frames: `${last.chunks} frames of ${(last.bytes / last.chunks).toFixed(0)} B each` };
}

async function follow({ endpoint }: Server, sessionId: string): Promise<Follower> {
  const follower = await openFollower(endpoint);
  const initialized = follower.until('"id":1');
  const clientCapabilities = { _meta: { pixir: { cursor: 1 } } };
  follower.request(1, 'initialize', { protocolVersion: 1, clientCapabilities });
  await initialized;
  const caughtUp = follower.until('_pixir/session/caught_up');
  follower.request(2, '_pixir/session/attach', { sessionId, cursor: 'head', role: 'observer' });
  await caughtUp;
  return follower;
}

/** The same frames over and over to everybody who is connected: nothing is parsed, recorded or encoded. */
async function fanOutOfFloor(clients: number): Promise<Measured> {
  const floor = await startWebSocketFloor();
  const followers = await repeat(clients, () => openFollower(floor));
  const measured = await measureRounds(floor, followers, async () => followers[0]?.send(`fan ${DELTAS} ${LAST_DELTA}`));
  await floor.stop();
  return measured;
}

async function measureRounds(
  { child }: Running,
  followers: Follower[],
  speak: () => Promise<unknown>,
): Promise<Measured> {
  const round = async () => {
    const arrived = followers.map((follower) => follower.until(LAST_DELTA));
    const used = process.cpuUsage();
    const began = now();
    await Promise.all([speak(), ...arrived]);
    const ms = now() - began;
    const { user, system } = process.cpuUsage(used);
    return { ms, busy: (user + system) / 1_000 / ms };
  };
  await repeat(WARM_UP, round);
  const used = processorTime(child.pid);
  const rounds = await repeat(ROUNDS, round);
  const server = (processorTime(child.pid) - used) / ROUNDS;
  return { ms: quantile(rounds.map(({ ms }) => ms)), busy: quantile(rounds.map(({ busy }) => busy)), server };
}
