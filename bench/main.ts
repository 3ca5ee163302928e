/**
 * `npm run bench`: measures this machine's floors and the agent beside them, in one run. `--only NAME` runs one group,
 * `--json FILE` also writes the figures.
 */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { prepareAgents } from './agents.ts';
import { backfill } from './backfill.ts';
import type { Group } from './context.ts';
import { fanout } from './fanout.ts';
import { floors } from './floors.ts';
import { footprint } from './footprint.ts';
import { load } from './load.ts';
import { now } from './measure.ts';
import { startModel } from './model.ts';
import { cleanUpAtExit } from './processes.ts';
import { reconnect } from './reconnect.ts';
import { type GroupReport, printTable } from './report.ts';
import { sessions100 } from './sessions100.ts';
import { memory, start } from './start.ts';
import { tail } from './tail.ts';
import { deltas, read, turns } from './turns.ts';

const GROUPS: Record<string, Group> = {
  floors,
  start,
  memory,
  turns,
  read,
  deltas,
  load,
  backfill,
  reconnect,
  tail,
  fanout,
  sessions100,
  footprint,
};

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'string' }, only: { type: 'string' } } });
  const { only, json } = values;
  if (only !== undefined && !(only in GROUPS)) throw new Error(`--only: one of ${Object.keys(GROUPS).join(', ')}`);
  cleanUpAtExit();
  const began = now();
  const load1 = loadavg()[0]?.toFixed(1);
  const model = await startModel();
  const context = { model, agents: await prepareAgents(model) };
  const reports: GroupReport[] = [];
  for (const [name, group] of Object.entries(GROUPS)) {
    if (only !== undefined && only !== name) continue;
    process.stderr.write(`${name} ...\n`);
    reports.push(await group(context));
  }
  const [processor] = cpus();
  const machine = `Node ${process.versions.node}, ${cpus().length} x ${processor?.model}, load before ${load1}, medians`;
  console.log(`${printTable(reports)}\n\n${machine}, ${((now() - began) / 1_000).toFixed(0)} s`);
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ machine, reports }, null, 2)}\n`);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.stack : error);
    process.exit(1);
  },
);
