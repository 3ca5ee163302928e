/** `pixir serve`: the server. Its first line on stdout says where it listens, and only once it does. */
import { once } from 'node:events';
import { join } from 'node:path';
import { systemClock } from '../core/clock.ts';
import { CoreError } from '../core/errors.ts';
import { createApp } from '../server/app.ts';
import { createOneTime } from '../server/one-time.ts';
import { createAuthenticator } from './authenticator.ts';
import { type Command, EXIT, type Io, readArgs } from './command.ts';
import { compose } from './compose.ts';
import { type Config, type ConfigInput, loadConfig } from './config.ts';
import { assertSafeBinding, launchLink, loadTls, reachable } from './front-door.ts';
import { packageRoot } from './package.ts';
import { loadToken } from './token.ts';

export const serve: Command = {
  async run(args, io) {
    const config = loadConfig({ command: 'serve', flags: readFlags(args) }, io.env);
    // Before anything is opened: what must not be listened on is not even begun.
    assertSafeBinding(config);
    const tls = loadTls(config);
    await using stack = new AsyncDisposableStack();
    const agent = stack.adopt(await compose(config, io.env, { serves: true }), ({ close }) =>
      close(turnsAtEnd(config, io)),
    );
    const { authenticate, browsers } = createAuthenticator({
      dataDir: config.dataDir,
      token: loadToken(config),
      clock: systemClock,
      onError: agent.runtime.onError,
    });
    const launchCodes = createOneTime<'launch'>(systemClock, 1);
    const app = await createApp({
      openPeer: agent.openPeer,
      authenticate,
      signIn: { browsers, launchCodes },
      readiness: () =>
        agent.log.probe().then(
          () => true,
          () => false,
        ),
      logger: agent.logger,
      uiDir: join(packageRoot(), 'web', 'dist'),
      listenHost: config.host,
      tls,
      publicUrl: config.publicUrl,
      proxies: config.behindProxy,
      allowedOrigins: config.allowedOrigins,
      limits: config.limits,
    });
    stack.defer(() => app.close());
    const url = await listen(app, config);
    agent.dataDir.announce(reachable(url), tls?.cert);
    const link = launchLink(config.publicUrl ?? reachable(url), launchCodes.issue('launch') ?? '');
    io.stdout.write(`listening on ${url}\nopen ${link} (once, within a minute)\n${welcome(config)}`);
    if (!io.signal.aborted) await once(io.signal, 'abort');
    return EXIT.done;
  },
};

function readFlags(args: string[]): NonNullable<ConfigInput['flags']> {
  const { values } = readArgs(args, {
    options: {
      host: { type: 'string' },
      port: { type: 'string' },
      'data-dir': { type: 'string' },
      workspace: { type: 'string', multiple: true },
      'tls-cert': { type: 'string' },
      'tls-key': { type: 'string' },
      'behind-proxy': { type: 'string' },
      'public-url': { type: 'string' },
    },
  });
  const { host, port, workspace: workspaces, 'data-dir': dataDir, 'tls-cert': tlsCert, 'tls-key': tlsKey } = values;
  const { 'behind-proxy': behindProxy, 'public-url': publicUrl } = values;
  return { host, port, workspaces, dataDir, tlsCert, tlsKey, behindProxy, publicUrl };
}

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
