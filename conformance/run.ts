/** Asks an agent one requirement after the other and collects what came of it. It prints nothing. */
import { openClient } from './client.ts';
import { type Feature, get, isObject, type Level, offers, type Requirement, Unjudged, Unmet } from './requirement.ts';
import { REQUIREMENTS } from './requirements/index.ts';
import { newSession } from './steps.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

export interface Result {
  id: string;
  level: Level;
  title: string;
  status: 'pass' | 'fail' | 'skip';
  /** Why it failed or was skipped. */
  reason?: string;
}

export interface Report {
  /** What the agent calls itself. */
  agentInfo: Record<string, unknown> | null;
  results: Result[];
}

export interface RunOptions extends WorldOptions {
  /** Leaves out what does not match; what it rests on is asked nevertheless. */
  wanted?: (requirement: Requirement) => boolean;
  /** Hears of each result as it comes. */
  onResult?: (result: Result) => void;
}

export async function run({ wanted = () => true, onResult, ...options }: RunOptions): Promise<Report> {
  await using world = await createWorld(options);
  const results = new Map<string, Result>();
  /** What is not met, and so is not worth asking, with the requirement that failed. */
  const unmet = new Map<string, string>();
  const chosen = withFoundations(REQUIREMENTS.filter(wanted));
  // Whoever only looks needs something to look at.
  const inOrder = [...chosen.filter((one) => 'run' in one), ...chosen.filter((one) => 'observe' in one)];
  for (const requirement of inOrder) {
    const { id, level, title } = requirement;
    const result: Result = { id, level, title, ...(await judge(requirement, world, unmet)) };
    results.set(id, result);
    onResult?.(result);
    await world.settle(result.status !== 'fail');
  }
  const agentInfo = world.clients.map(({ initialized }) => get(initialized, 'agentInfo')).find(isObject) ?? null;
  return { agentInfo, results: chosen.flatMap(({ id }) => results.get(id) ?? []) };
}

function withFoundations(chosen: readonly Requirement[]): Requirement[] {
  const ids = new Set<string>();
  const add = ({ id, restsOn = [] }: Requirement) => {
    ids.add(id);
    for (const foundation of REQUIREMENTS)
      if (restsOn.includes(foundation.id) && !ids.has(foundation.id)) add(foundation);
  };
  chosen.forEach(add);
  return REQUIREMENTS.filter(({ id }) => ids.has(id));
}

const NOTHING_SAID = 'it looks at what other requirements make the agent say, and that was nothing';

type Judgement = Pick<Result, 'status' | 'reason'>;

async function judge(requirement: Requirement, world: World, unmet: Map<string, string>): Promise<Judgement> {
  const { over, restsOn = [], needs } = requirement;
  if (over && over !== world.target.kind) return { status: 'skip', reason: `is about ${over}` };
  const root = restsOn.map((id) => unmet.get(id)).find((id) => id !== undefined);
  if (root !== undefined) {
    unmet.set(requirement.id, root);
    return { status: 'skip', reason: `rests on ${root}, which failed` };
  }
  try {
    if (needs && !(await isOffered(needs, world))) return { status: 'skip', reason: `it does not offer ${needs}` };
    if ('run' in requirement) await requirement.run(world);
    else if (world.clients.some((client) => client.said.length > 0)) requirement.observe(world.clients);
    else return { status: 'skip', reason: NOTHING_SAID };
    return { status: 'pass' };
  } catch (error) {
    if (error instanceof Unjudged) return { status: 'skip', reason: error.message };
    if (!(error instanceof Unmet)) throw error;
    unmet.set(requirement.id, requirement.id);
    return { status: 'fail', reason: error.message };
  }
}

async function isOffered(feature: Feature, world: World): Promise<boolean> {
  const client = await world.agent();
  if (feature !== 'modes' && feature !== 'configOptions') return offers(client, feature);
  const session = await newSession(world, client);
  return session[feature] !== undefined && session[feature] !== null;
}

/** Whether there is an agent to ask at all. @throws Unmet that says why not */
export async function expectAgent({ target, timeout }: WorldOptions): Promise<void> {
  const { transport } = await openClient(target, timeout);
  transport.kill();
  const { reason } = await transport.closed;
  if (reason.startsWith('cannot start')) throw new Unmet(reason);
}
