/** How long an editor waits for the agent, and what it then costs in memory. */
import type { Program } from './agents.ts';
import { type Context, type Group, TRANSPORTS } from './context.ts';
import { now, quantile, repeat } from './measure.ts';
import { residentMemory, scratchDirectory } from './processes.ts';
import type { Row } from './report.ts';

const STARTS = 15;
const START_AIM = { value: 90, better: 'lower' } as const;
const MEMORY_AIM = { value: 85, better: 'lower' } as const;

const PROGRAMS: readonly Program[] = ['ours', 'checkout', 'sdk'];

export const start: Group = async (context) => {
  const initialized: Record<Program, number[]> = { ours: [], checkout: [], sdk: [] };
  const answered: Record<Program, number[]> = { ours: [], checkout: [], sdk: [] };
  const dataDirs = new Map(PROGRAMS.map((program) => [program, scratchDirectory('data')]));
  // The first two starts fill the compile cache and make the database.
  for (let round = -2; round < STARTS; round++) {
    for (const program of PROGRAMS) {
      const times = await startOnce(context, program, dataDirs.get(program) ?? '');
      if (round < 0) continue;
      initialized[program].push(times.initialized);
      answered[program].push(times.answered);
    }
  }
  const floor = quantile(initialized.sdk);
  return {
    title: 'Start (stdio)',
    floor: 'SDK agent',
    rows: [
      { name: 'spawn to initialize answered', unit: 'ms', floor, ours: quantile(initialized.ours), aim: START_AIM },
      { name: '  from the checkout', unit: 'ms', ours: quantile(initialized.checkout) },
      {
        name: 'spawn to first Turn answered',
        unit: 'ms',
        floor: quantile(answered.sdk),
        ours: quantile(answered.ours),
      },
      { name: '  from the checkout', unit: 'ms', ours: quantile(answered.checkout) },
    ],
  };
};

/** Milliseconds since the spawn. */
async function startOnce({ agents }: Context, program: Program, dataDir: string) {
  const began = now();
  const agent = agents.spawn(program, dataDir);
  const client = await agent.connect();
  const initialized = now() - began;
  await client.prompt(await client.newSession(agents.workspace), 'one');
  const answered = now() - began;
  await agent.stop();
  return { initialized, answered };
}

export const memory: Group = async (context) => {
  const rows: Row[] = [];
  for (const transport of TRANSPORTS) {
    const floor = quantile(await repeat(3, () => memoryAfterTurn(context, 'sdk', transport)));
    const ours = quantile(await repeat(3, () => memoryAfterTurn(context, 'ours', transport)));
    rows.push({ name: `after the first Turn, ${transport}`, unit: 'MiB', floor, ours, aim: MEMORY_AIM });
  }
  return { title: 'Resident memory', floor: 'SDK agent', rows };
};

async function memoryAfterTurn({ agents }: Context, ...[name, transport]: Parameters<Context['agents']['start']>) {
  const agent = await agents.start(name, transport);
  const client = await agent.connect();
  await client.prompt(await client.newSession(agents.workspace), 'one');
  const used = residentMemory(agent.child.pid);
  await agent.stop();
  return used;
}
