/** The command line of the runner. It reads files that it is told to read, and nothing from the environment. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { DEFAULT_PROMPTS, readPrompts } from './prompts.ts';
import type { RunOptions } from './run.ts';
import type { Target } from './transport.ts';

export const USAGE = `usage: npm run conformance -- (--agent "COMMAND ARGS" | --url ws://HOST:PORT/PATH) [options]

  --agent "CMD ARGS"  an agent on stdio; words are split as a shell does, quotes included
  --url URL           an agent behind a WebSocket
  --token-file FILE   a bearer token for --url
  --header "K: V"     a header for --url; may be repeated
  --prompts FILE      JSON: what to say so that the agent does what a requirement is about
  --cwd DIR           where to make the temporary directory that Sessions work in
  --auth METHOD       an id of authMethods, for an agent that wants authentication
  --allow-logout      try logout, which may cost a real login
  --only TEXT         only requirements whose id or title contains TEXT
  --timeout MS        how long any answer may take (30000)
  --json FILE         write the report as JSON too
  --list              list the requirements and end
`;

/** The command line is wrong. */
export class UsageError extends Error {}

export interface Arguments {
  list: boolean;
  json: string | undefined;
  options: RunOptions | undefined;
  only: string;
}

export function readArguments(args: string[]): Arguments {
  const { values } = parse(args);
  const { agent, url, json, only = '', list = false, prompts, cwd, auth, timeout = '30000' } = values;
  const shared = { list, json, only: only.toLowerCase() };
  if (list) return { ...shared, options: undefined };
  if ((agent === undefined) === (url === undefined)) throw new UsageError('give either --agent or --url');
  if (!/^[1-9]\d*$/.test(timeout)) throw new UsageError('--timeout is a number of milliseconds');
  const target = agent === undefined ? remote(url ?? '', values['token-file'], values.header) : local(agent);
  const options: RunOptions = {
    target,
    timeout: Number(timeout),
    prompts: prompts === undefined ? DEFAULT_PROMPTS : usable(() => readPrompts(readFileSync(prompts, 'utf8'))),
    cwd,
    auth,
    mayLogout: values['allow-logout'],
  };
  return { ...shared, options };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  return usable(() =>
    parseArgs({
      args,
      strict: true,
      options: {
        agent: text,
        url: text,
        'token-file': text,
        header: { type: 'string', multiple: true },
        prompts: text,
        cwd: text,
        auth: text,
        'allow-logout': { type: 'boolean' },
        only: text,
        timeout: text,
        json: text,
        list: { type: 'boolean' },
      },
    }),
  );
}

function usable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function local(command: string): Target {
  const [first, ...args] = words(command);
  if (first === undefined) throw new UsageError('--agent is empty');
  return { kind: 'stdio', command: first, args };
}

/** Splits like a shell: at blanks, except within quotes. Nothing is expanded. */
export function words(command: string): string[] {
  return (command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []).map((word) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single),
  );
}

function remote(url: string, tokenFile: string | undefined, more: string[] = []): Target {
  if (!/^wss?:$/.test(usable(() => new URL(url)).protocol)) throw new UsageError('--url begins with ws:// or wss://');
  const headers: Record<string, string> = {};
  if (tokenFile !== undefined) {
    headers.authorization = `Bearer ${usable(() => readFileSync(tokenFile, 'utf8')).trim()}`;
  }
  for (const header of more) {
    const [, key, value] = /^([^:\s]+):\s*(.*)$/.exec(header) ?? [];
    if (key === undefined || value === undefined) throw new UsageError('--header is "KEY: VALUE"');
    headers[key.toLowerCase()] = value;
  }
  return { kind: 'websocket', url, headers };
}
