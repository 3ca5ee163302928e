/**
 * `npm run conformance`: holds any ACP agent against the protocol, one requirement at a time. Exit code 0 when no MUST
 * fails, 1 otherwise, 2 when it could not begin.
 */
import { writeFileSync } from 'node:fs';
import { readArguments, USAGE, UsageError } from './arguments.ts';
import { NOT_OBSERVABLE } from './not-observable.ts';
import { isConformant, json, line, summary } from './report.ts';
import type { Requirement } from './requirement.ts';
import { REQUIREMENTS } from './requirements/index.ts';
import { expectAgent, run } from './run.ts';

async function main(args: string[]): Promise<number> {
  const { list, json: file, options, only } = readArguments(args);
  const wanted = ({ id, title }: Requirement) => `${id} ${title}`.toLowerCase().includes(only);
  if (!options || list) {
    for (const { id, level, title } of REQUIREMENTS.filter(wanted))
      print(`${level.padEnd(6)}  ${id.padEnd(23)}  ${title}`);
    print('\nNot observable from outside:');
    for (const [id, why] of Object.entries(NOT_OBSERVABLE)) print(`${id}  ${why}`);
    return 0;
  }
  if (!REQUIREMENTS.some(wanted)) throw new UsageError('--only: no requirement matches');
  await expectAgent(options).catch((error: Error) => Promise.reject(new UsageError(error.message)));
  const report = await run({ ...options, wanted, onResult: (result) => print(line(result)) });
  print(`\n${summary(report.results)}`);
  if (file !== undefined) writeFileSync(file, json(options.target, report));
  return isConformant(report.results) ? 0 : 1;
}

/** So that an agent in a group of its own goes with the runner. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const isUsage = error instanceof UsageError;
    process.stderr.write(
      isUsage ? `${error.message}\n\n${USAGE}` : `${error instanceof Error ? error.stack : error}\n`,
    );
    process.exitCode = 2;
  },
);
