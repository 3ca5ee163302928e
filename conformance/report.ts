/** Results as a table for people and as JSON for programs. The shape of the JSON is described in README.md and only grows. */
import { NOT_OBSERVABLE } from './not-observable.ts';
import type { Level } from './requirement.ts';
import type { Report, Result } from './run.ts';
import type { Target } from './transport.ts';

export const isConformant = (results: readonly Result[]) => failed(results, 'MUST') === 0;

function failed(results: readonly Result[], level: Level): number {
  return results.filter((result) => result.level === level && result.status === 'fail').length;
}

export function line({ id, level, title, status, reason }: Result): string {
  const head = `${status.padEnd(4)}  ${level.padEnd(6)}  ${id.padEnd(23)}  ${title}`;
  return reason === undefined ? head : `${head}\n${' '.repeat(14)}${reason.replaceAll('\n', ' ')}`;
}

export function summary(results: readonly Result[]): string {
  const count = (status: Result['status']) => results.filter((result) => result.status === status).length;
  const failures = (['MUST', 'SHOULD', 'MAY'] as const).map((level) => `${failed(results, level)} ${level}`).join(', ');
  const verdict = isConformant(results) ? 'CONFORMANT' : 'NOT CONFORMANT';
  return `${verdict}: ${count('pass')} passed, ${count('fail')} failed (${failures}), ${count('skip')} not judged`;
}

export function json(target: Target, { agentInfo, results }: Report): string {
  const conformant = isConformant(results);
  const agent = target.kind === 'stdio' ? [target.command, ...target.args].join(' ') : target.url;
  const about = { version: 1, agent, transport: target.kind, agentInfo, conformant };
  return `${JSON.stringify({ ...about, results, notObservable: NOT_OBSERVABLE }, null, 2)}\n`;
}
