/** The entry point: picks the command, shows errors as one line, and turns signals into an orderly end. */
import { EXIT, type Io, UsageError } from './cli/command.ts';
import { COMMANDS, helpText } from './cli/commands.ts';
import { environment } from './cli/config.ts';
import { packageVersion } from './cli/package.ts';
import { CoreError } from './core/errors.ts';

async function main([name, ...args]: string[], io: Io): Promise<number> {
  if (name === '--version') return say(io, `${packageVersion()}\n`);
  if (name === 'help' || name === '--help' || name === '-h') return say(io, helpText(args[0]));
  const entry = name === undefined ? undefined : COMMANDS[name];
  if (!entry) throw new UsageError(name === undefined ? 'a command is needed' : 'there is no such command');
  if (args.includes('--help')) return say(io, helpText(name));
  const command = await entry.load();
  return command.run(args, io);
}

function say(io: Io, text: string): number {
  io.stdout.write(text);
  return EXIT.done;
}

/** Errors that a person can act upon are one line; anything else is a defect and shows its stack. */
function explain(error: unknown, io: Io): number {
  if (error instanceof UsageError) {
    io.stderr.write(`pixir: ${error.message}. Try: pixir help\n`);
    return EXIT.usage;
  }
  const text = error instanceof CoreError && error.code !== 'internal' ? error.message : (error as Error)?.stack;
  io.stderr.write(`pixir: ${text}\n`);
  return EXIT.failed;
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // Asked twice: a person who does not want to wait.
    if (stop.signal.aborted) process.exit(EXIT.interrupted);
    stop.abort(signal);
  });
}
const { stdin, stdout, stderr } = process;
// Whoever read the output has gone (`… | head`): what is still to be said is said to nobody.
stdout.on('error', () => {});
const io: Io = { env: environment, stdin, stdout, stderr, signal: stop.signal };
process.exitCode = await main(process.argv.slice(2), io).catch((error: unknown) => explain(error, io));
