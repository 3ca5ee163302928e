/**
 * `pixir login`: asks for the API key of the model server, has it checked there, and keeps it in the data directory. The
 * key must never be shown, and is not kept unless the server accepts it.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CoreError } from '../core/errors.ts';
import { checkKey } from '../providers/openai-key.ts';
import { type Command, EXIT, type Io, readArgs, UsageError } from './command.ts';
import { type Config, loadConfig, storedKeyFile } from './config.ts';

/** Somebody is waiting. */
const ANSWER_TIMEOUT_MS = 20_000;

export const login: Command = {
  async run(args, io) {
    const { values, positionals } = readArgs(args, {
      allowPositionals: true,
      options: { remove: { type: 'boolean', default: false }, 'data-dir': { type: 'string' } },
    });
    // Other users see a command line. The argument is not repeated either.
    if (positionals.length > 0) throw new UsageError('login reads the key from the terminal or from stdin');
    const config = loadConfig({ command: 'login', flags: { dataDir: values['data-dir'] } }, io.env);
    const path = storedKeyFile(config.dataDir);
    if (values.remove) {
      change(path, () => rmSync(path, { force: true }));
      return EXIT.done;
    }
    try {
      const apiKey = await askKey(io);
      io.signal.throwIfAborted();
      if (apiKey === '') throw new CoreError('not_authenticated', 'no key was given');
      await check(apiKey, config, io.signal);
      change(path, () => store(path, apiKey));
    } catch (error) {
      if (io.signal.aborted) return EXIT.interrupted;
      throw error instanceof CoreError ? new CoreError(error.code, `${error.message}; nothing was changed`) : error;
    }
    io.stdout.write('The key works and is stored; what starts from now on uses it.\n');
    return EXIT.done;
  },
};

/** The first line of stdin, without the space around it. At a terminal it can be edited and is not shown. */
async function askKey({ stdin: input, stderr, signal }: Io): Promise<string> {
  const terminal = input.isTTY === true;
  if (terminal) stderr.write('API key (it will not be shown): ');
  // readline takes the terminal's own echo away; what it would draw instead goes nowhere.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output, terminal, signal });
  try {
    for await (const line of lines) return line.trim();
    return '';
  } finally {
    lines.close();
    if (terminal) stderr.write('\n');
  }
}

async function check(apiKey: string, { openaiBaseUrl: baseUrl }: Config, signal: AbortSignal): Promise<void> {
  try {
    await checkKey({ apiKey, baseUrl, idleTimeoutMs: ANSWER_TIMEOUT_MS }, signal);
  } catch (error) {
    if (!(error instanceof CoreError && error.code === 'not_authenticated')) throw error;
    // The server's own words advise people who have set a variable.
    throw new CoreError(error.code, 'the model server refused the key');
  }
}

/** In one step: whoever reads meanwhile gets the old key or the new one. */
function store(path: string, apiKey: string): void {
  const draft = `${path}.${randomUUID()}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${apiKey}\n`, { flag: 'wx', mode: 0o600, flush: true });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

function change(path: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    throw new CoreError('config_invalid', `${path}: cannot be changed (${(error as NodeJS.ErrnoException).code})`);
  }
}
