/**
 * `pixir acp`: ACP over stdin and stdout, in process, or as a bridge to the server that holds the data directory. stdout
 * carries JSON-RPC and nothing else; the end of stdin ends it.
 */
import { resolve } from 'node:path';
import type { OpenPeer } from '../acp/transport.ts';
import type { RefusedReason } from '../client/close-codes.ts';
import type { Address } from '../client/ports.ts';
import { stopAll } from '../core/conversation.ts';
import { CoreError } from '../core/errors.ts';
import { LOCAL } from '../core/principal.ts';
import { type Command, EXIT, type Io, readArgs, UsageError } from './command.ts';
import { type Composition, compose } from './compose.ts';
import { type Config, loadConfig } from './config.ts';
import { createLogger } from './logger.ts';
import { serveStdio } from './stdio.ts';

export const acp: Command = {
  async run(args, io) {
    const { values } = readArgs(args, {
      options: { 'data-dir': { type: 'string' }, connect: { type: 'string' }, 'token-file': { type: 'string' } },
    });
    const { connect, 'token-file': tokenFile, 'data-dir': dataDir } = values;
    const config = loadConfig({ command: 'acp', flags: { dataDir } }, io.env);
    if (connect === undefined && tokenFile === undefined) return await runHere(config, io);
    if (connect === undefined || tokenFile === undefined)
      throw new UsageError('--connect and --token-file go together');
    const { remoteServer } = await import('./bridge-address.ts');
    return await runBridge(config, io, remoteServer(connect, resolve(tokenFile)));
  },
};

/** In process; or, where a server has the data directory already, with that server. */
async function runHere(config: Config, io: Io): Promise<number> {
  const agent = await compose(config, io.env).catch(unlessServed);
  if (!agent) {
    const { localServer } = await import('./bridge-address.ts');
    return await runBridge(config, io, localServer(config));
  }
  await using stack = new AsyncDisposableStack();
  stack.adopt(agent, ({ close }) => close('interrupt'));
  await overStdio(io, agent.openPeer, () => stopAll(agent.runtime, 'interrupt'));
  return EXIT.done;
}

function unlessServed(error: unknown): Composition | undefined {
  const { code, details } = error instanceof CoreError ? error : {};
  // A server of an earlier version says only where it listens.
  if (code === 'data_dir_locked' && (details?.serves === true || details?.url !== undefined)) return undefined;
  throw error;
}

async function runBridge(config: Config, io: Io, address: () => Address): Promise<number> {
  const { createBridge } = await import('./bridge.ts');
  let refused: RefusedReason | undefined;
  const onRefused = (reason: RefusedReason) => {
    refused = reason;
  };
  const { signal } = io;
  await overStdio(io, createBridge({ address, logger: createLogger(config.logLevel), onRefused, signal }));
  if (refused === undefined) return EXIT.done;
  io.stderr.write(`pixir: ${WHY[refused]}\n`);
  return EXIT.failed;
}

const WHY: Record<RefusedReason, string> = {
  credential: 'the server does not accept the token',
  forbidden: 'the server does not accept connections under this address',
  protocol: 'the server does not speak as this version of pixir does',
};

/** Until stdin ends or the process is told to. */
async function overStdio(io: Io, openPeer: OpenPeer, inputEnded?: () => Promise<void>): Promise<void> {
  io.signal.addEventListener('abort', () => io.stdin.destroy(), { once: true });
  const { stdin: input, stdout: output } = io;
  await serveStdio({ input, output, openPeer, principal: LOCAL, ...(inputEnded ? { inputEnded } : {}) });
}
