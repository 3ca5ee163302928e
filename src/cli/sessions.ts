/** `pixir sessions`: the Log from the shell. Reading works beside a running server; deleting needs the directory alone. */

import { systemClock } from '../core/clock.ts';
import type { Event } from '../core/event.ts';
import { assertSessionId } from '../core/session-id.ts';
import { claimDataDir } from '../store/data-dir.ts';
import { openSqliteLog } from '../store/sqlite-log.ts';
import { openReadOnly, type SqliteReader } from '../store/sqlite-reader.ts';
import { auditor } from './audit.ts';
import { type Command, EXIT, type Io, readArgs, UsageError } from './command.ts';
import { databaseOptions } from './compose.ts';
import { type Config, loadConfig } from './config.ts';
import { toMarkdown } from './markdown.ts';

const PAGE = 1_000;

export const sessions: Command = {
  async run(args, io) {
    const { values, positionals } = readArgs(args, {
      allowPositionals: true,
      options: { 'data-dir': { type: 'string' }, markdown: { type: 'boolean', default: false } },
    });
    const [action, id, ...rest] = positionals;
    if (rest.length > 0) throw new UsageError('too many arguments');
    if (id !== undefined) assertSessionId(id);
    const config = loadConfig({ command: 'sessions', flags: { dataDir: values['data-dir'] } }, io.env);
    switch (action) {
      case 'list':
        return reading(config, (reader) => list(reader, io));
      case 'show':
        return reading(config, (reader) => writeOut(reader, needId(id), io, toMarkdown));
      case 'export':
        return reading(config, (reader) => writeOut(reader, needId(id), io, values.markdown ? toMarkdown : toJsonLine));
      case 'verify':
        return reading(config, (reader) => verify(reader, id, io));
      case 'audit':
        return reading(config, (reader) => audit(reader, id, io));
      case 'delete':
        return remove(config, needId(id));
      default:
        throw new UsageError('sessions needs one of list, show, export, delete, verify, audit');
    }
  },
};

function needId(id: string | undefined): string {
  if (id === undefined) throw new UsageError('a Session id is needed');
  return id;
}

async function reading(config: Config, work: (reader: SqliteReader) => Promise<number>): Promise<number> {
  const reader = openReadOnly(databaseOptions(config));
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

async function list(reader: SqliteReader, io: Io): Promise<number> {
  for (const { sessionId, updatedAt, head, title, workspace, openTurnId } of await reader.sessions({})) {
    const columns = [
      sessionId,
      updatedAt,
      `${head.seq + 1} events`,
      openTurnId ? 'running' : 'idle',
      workspace,
      title ?? '',
    ];
    io.stdout.write(`${columns.join('\t')}\n`);
  }
  return EXIT.done;
}

const toJsonLine = (event: Event) => `${JSON.stringify(event)}\n`;

async function writeOut(reader: SqliteReader, id: string, io: Io, format: (event: Event) => string): Promise<number> {
  let after = -1;
  for (;;) {
    const page = await reader.read(id, after, PAGE);
    for (const { event } of page) io.stdout.write(format(event));
    after += page.length;
    if (page.length < PAGE) break;
  }
  if (after >= 0) return EXIT.done;
  io.stderr.write('pixir: there is no such Session. Try: pixir sessions list\n');
  return EXIT.failed;
}

/** Who did what, in one Session or in all of them. */
async function audit(reader: SqliteReader, id: string | undefined, io: Io): Promise<number> {
  if (id !== undefined) return await writeOut(reader, id, io, auditor());
  for (const { sessionId } of await reader.sessions({})) await writeOut(reader, sessionId, io, auditor());
  return EXIT.done;
}

/** Checks one Session, or all of them and the file itself. One line each; the exit code says whether all is well. */
async function verify(reader: SqliteReader, id: string | undefined, io: Io): Promise<number> {
  const ids = id === undefined ? (await reader.sessions({})).map(({ sessionId }) => sessionId) : [id];
  const problems = id === undefined ? await reader.verifyDatabase() : [];
  for (const problem of problems) io.stdout.write(`database\t${problem}\n`);
  let sound = problems.length === 0;
  for (const sessionId of ids) {
    const result = await reader.verifySession(sessionId);
    sound &&= result.ok;
    const verdict = result.ok ? 'ok' : `BAD at seq ${result.firstBad.seq}: ${result.firstBad.reason}`;
    io.stdout.write(`${sessionId}\t${result.events} events\t${verdict}\n`);
  }
  return sound ? EXIT.done : EXIT.failed;
}

async function remove(config: Config, id: string): Promise<number> {
  const lock = claimDataDir(config.dataDir);
  try {
    const log = openSqliteLog({ ...databaseOptions(config), clock: systemClock });
    await log.deleteSession(id).finally(() => log.close());
    return EXIT.done;
  } finally {
    lock.release();
  }
}
