/** The agents of the self-test as targets of the runner, and the words that they understand. */
import { join } from 'node:path';
import type { Prompts } from '../../conformance/prompts.ts';
import type { Requirement } from '../../conformance/requirement.ts';
import { type RunOptions, run } from '../../conformance/run.ts';
import type { Target } from '../../conformance/transport.ts';
import { REPOSITORY } from '../support/processes.ts';
import { hostAgent } from './agents/host.ts';

export const prompts: Prompts = {
  text: 'hello',
  busy: 'busy',
  tool: 'tool',
  permission: 'permission',
  read: 'read',
  terminal: 'terminal',
  elicitation: 'form',
};

/** Starting is most of what a process costs here. */
export const CACHE = `NODE_COMPILE_CACHE=${join(REPOSITORY, 'node_modules', '.cache', 'conformance')}`;

/** One of the agents as a process. */
export function agent(file: 'echo.ts' | 'broken.ts', defect = ''): Target & { kind: 'stdio' } {
  const args = [CACHE, process.execPath, join(import.meta.dirname, 'agents', file), defect];
  return { kind: 'stdio', command: 'env', args };
}

/** A message of 40 MiB for each of them would be most of the time. */
const isQuick = ({ id }: Requirement) => id !== 'C015';

export async function runHosted(defect: string, options: Partial<RunOptions> = {}) {
  await using host = await hostAgent(defect);
  return await runAgent({ target: { kind: 'websocket', url: host.url, headers: {} }, ...options });
}

export async function runAgent(options: Pick<RunOptions, 'target'> & Partial<RunOptions>) {
  const { results } = await run({ prompts, timeout: 10_000, wanted: isQuick, ...options });
  const ids = (status: string) => results.filter((result) => result.status === status).map(({ id }) => id);
  return { passed: ids('pass'), failed: ids('fail').sort(), skipped: ids('skip') };
}
