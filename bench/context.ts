/** What every group gets, and the line-up that most of them measure: ours and the SDK's agent over both transports. */
import type { Agent, Agents, Name, TransportName } from './agents.ts';
import type { Answered, Client } from './client.ts';
import type { Model } from './model.ts';
import { DELTA_LENGTH, expectedDeltas } from './model-script.ts';
import type { GroupReport } from './report.ts';

export interface Context {
  model: Model;
  agents: Agents;
}

export type Group = (context: Context) => Promise<GroupReport>;

export interface Contender {
  name: Name;
  transport: TransportName;
  agent: Agent;
  client: Client;
}

export const TRANSPORTS: readonly TransportName[] = ['WebSocket', 'stdio'];
const NAMES: readonly Name[] = ['ours', 'sdk'];

/** Starts everybody, lets `measure` work with them, and stops them. */
export async function withContenders<T>({ agents }: Context, measure: (all: Contender[]) => Promise<T>): Promise<T> {
  const all: Contender[] = [];
  for (const transport of TRANSPORTS) {
    for (const name of NAMES) {
      const agent = await agents.start(name, transport);
      all.push({ name, transport, agent, client: await agent.connect() });
    }
  }
  try {
    return await measure(all);
  } finally {
    await Promise.all(all.map(({ agent }) => agent.stop()));
  }
}

export interface MeasuredTurn extends Answered {
  /** From the prompt until the model was asked, and from the model's last byte until the answer; in milliseconds. */
  before: number;
  after: number;
  /** All the time that was not the model's. */
  overhead: number;
}

/** Sends the same prompt again and again in one new Session. */
async function measureTurns(
  { model, agents }: Context,
  { client }: Contender,
  prompt: string,
  times: number,
): Promise<MeasuredTurn[]> {
  const sessionId = await client.newSession(agents.workspace);
  await model.answers();
  const turns: Answered[] = [];
  for (let turn = 0; turn < times; turn++) turns.push(await client.prompt(sessionId, prompt));
  const answers = await model.answers();
  const rounds = answers.length / times;
  const text = expectedDeltas(prompt) * DELTA_LENGTH;
  if (!Number.isInteger(rounds) || turns.some(({ characters }) => characters !== text)) {
    throw new Error(`the answers to "${prompt}" are not what the model said`);
  }
  return turns.map((turn, index) => {
    const own = answers.slice(index * rounds, (index + 1) * rounds);
    const modelTime = own.reduce((sum, { began, ended }) => sum + ended - began, 0);
    const [first, last] = [own[0], own.at(-1)];
    if (!first || !last) throw new Error('the agent did not ask the model');
    const overhead = turn.ended - turn.began - modelTime;
    return { ...turn, overhead, before: first.began - turn.began, after: turn.ended - last.ended };
  });
}

/** Everybody in turn, several times over, so that a noisy moment strikes all alike. The first round warms up. */
export async function inRounds(
  context: Context,
  all: readonly Contender[],
  { prompt, turns, rounds }: { prompt: string; turns: number; rounds: number },
): Promise<Map<Contender, MeasuredTurn[]>> {
  const measured = new Map<Contender, MeasuredTurn[]>(all.map((contender) => [contender, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const contender of all) {
      const taken = await measureTurns(context, contender, prompt, turns);
      if (round > 0) measured.get(contender)?.push(...taken);
    }
  }
  return measured;
}
