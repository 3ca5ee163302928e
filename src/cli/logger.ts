/**
 * The log: JSON lines on stderr, readable ones when a person is watching. It must never touch stdout, wait for a slow
 * reader of stderr, or print a credential.
 */
import { createRequire } from 'node:module';
import type { Logger as Pino } from 'pino';
import type { Logger } from '../server/logger.ts';
import type { LogLevel } from './config.ts';

const SEVERITY = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60, silent: Infinity } as const;

/** When a reader of stderr is this far behind, lines are dropped: the log must not cost the memory of the work. */
const MAX_BACKLOG_BYTES = 4 * 1024 * 1024;

const SECRET_KEYS = [
  'authorization',
  'Authorization',
  'cookie',
  'Cookie',
  'set-cookie',
  'token',
  'apiKey',
  'openaiApiKey',
];

/** The part of a stream that the log needs; process.stderr is one. */
export interface LogStream {
  write(text: string): unknown;
  readonly writableLength: number;
  readonly isTTY?: boolean | undefined;
}

/** pino takes longer to load than everything else `pixir acp` does at its start, so the first written line loads it. */
export function createLogger(level: LogLevel, stream: LogStream = process.stderr): Logger {
  let pino: Pino | undefined;
  const at = (severity: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    if (SEVERITY[severity] < SEVERITY[level]) return;
    pino ??= loadPino(level, stream);
    pino[severity](fields, message);
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function loadPino(level: LogLevel, stream: LogStream): Pino {
  // Not `import()`: a line that is written right before the process ends must not wait for a promise.
  const require = createRequire(import.meta.url);
  const { pino, stdTimeFunctions } = require('pino') as typeof import('pino');
  const format = stream.isTTY ? prettifier(require) : (line: string) => line;
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: secretPaths(), censor: '[secret]' },
    },
    {
      write(line) {
        if (stream.writableLength < MAX_BACKLOG_BYTES) stream.write(format(line));
      },
    },
  );
}

function prettifier(require: NodeJS.Require): (line: string) => string {
  const { prettyFactory } = require('pino-pretty') as typeof import('pino-pretty');
  const pretty = prettyFactory({ colorize: true, ignore: 'pid', translateTime: 'SYS:HH:MM:ss.l' });
  return (line) => pretty(line) ?? line;
}

/** The secret keys at the top and up to three levels down, which is as deep as requests and errors nest. */
function secretPaths(): string[] {
  return SECRET_KEYS.flatMap((key) => ['', '*', '*.*', '*.*.*'].map((parents) => `${parents}["${key}"]`));
}
