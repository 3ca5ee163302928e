/** `pixir serve`: the server. Its first line on stdout says where it listens, and only once it does. */
import { once } from 'node:events';
import { systemClock } from '../core/clock.ts';
import { CoreError } from '../core/errors.ts';
import { createApp } from '../server/app.ts';
import { type Command, EXIT, type Io, readArgs } from './command.ts';
import { compose } from './compose.ts';
import { type Config, loadConfig } from './config.ts';
import { loadToken } from './token.ts';
import { createAuthenticator } from './tokens.ts';

export const serve: Command = {
  async run(args, io) {
    const { values } = readArgs(args, {
      options: {
        host: { type: 'string' },
        port: { type: 'string' },
        'data-dir': { type: 'string' },
        workspace: { type: 'string', multiple: true },
      },
    });
    const { host, port, 'data-dir': dataDir, workspace: workspaces } = values;
    const config = loadConfig({ command: 'serve', flags: { host, port, dataDir, workspaces } }, io.env);
    await using stack = new AsyncDisposableStack();
    const agent = stack.adopt(await compose(config, io.env, { serves: true }), ({ close }) =>
      close(turnsAtEnd(config, io)),
    );
    const app = await createApp({
      openPeer: agent.openPeer,
      authenticate: createAuthenticator({
        dataDir: config.dataDir,
        token: loadToken(config),
        clock: systemClock,
        onError: agent.runtime.onError,
      }),
      readiness: () =>
        agent.log.probe().then(
          () => true,
          () => false,
        ),
      logger: agent.logger,
      listenHost: config.host,
    });
    stack.defer(() => app.close());
    const url = await listen(app, config);
    agent.dataDir.announce(url);
    io.stdout.write(`listening on ${url}\n${welcome(config)}`);
    if (!io.signal.aborted) await once(io.signal, 'abort');
    return EXIT.done;
  },
};

/**
 * Ctrl-C is a person who wants it to stop. Any other end is a restart or the system going down: the Turns go on when the
 * server is back, where the settings let them.
 */
function turnsAtEnd({ recovery }: Config, { signal }: Io): 'interrupt' | 'suspend' {
  return recovery === 'resume' && signal.reason !== 'SIGINT' ? 'suspend' : 'interrupt';
}

async function listen(app: Awaited<ReturnType<typeof createApp>>, { host, port }: Config): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const advice = code === 'EADDRINUSE' ? 'the port is in use: choose another with --port, or 0 for any' : code;
    throw new CoreError('listen_failed', `cannot listen on ${host}:${port}: ${advice}`);
  }
}

function welcome({ provider, dataDir, tokenFile, token, workspaces }: Config): string {
  const lines = [
    `ACP clients connect to /acp with the bearer token ${token ? 'from PIXIR_TOKEN' : `in ${tokenFile ?? `${dataDir}/token`}`}`,
    `Sessions may work under ${workspaces?.join(', ') ?? 'any directory'}`,
  ];
  if (provider === 'scripted') {
    lines.push(
      'No model is set: a scripted demonstration answers. Set OPENAI_API_KEY or OPENAI_BASE_URL for a real one.',
    );
  }
  return `${lines.join('\n')}\n`;
}
