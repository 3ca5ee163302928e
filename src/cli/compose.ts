/** The composition root: the only place that constructs things. It decides nothing; the configuration has. */
import { realpathSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ConnectionLimits } from '../acp/agent.ts';
import { openPeer } from '../acp/peer.ts';
import type { OpenPeer } from '../acp/transport.ts';
import { createBus } from '../core/bus.ts';
import { systemClock } from '../core/clock.ts';
import { recover, stopAll } from '../core/conversation.ts';
import { toCoreError } from '../core/errors.ts';
import type { RuntimeLimits } from '../core/limits.ts';
import { createRuntime, type ModelInfo, type Runtime } from '../core/runtime.ts';
import { PROVIDERS } from '../providers/index.ts';
import { playgroundFiles } from '../providers/playground.ts';
import type { Logger } from '../server/logger.ts';
import { claimDataDir, type DataDirLock } from '../store/data-dir.ts';
import { diskRoom } from '../store/disk-room.ts';
import { openSqliteLog, type SqliteLog } from '../store/sqlite-log.ts';
import { createFileLister } from '../tools/file-lister.ts';
import { createTools } from '../tools/index.ts';
import { createMcp } from '../tools/mcp.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '../tools/sandbox.ts';
import { createSkillFinder } from '../tools/skill-files.ts';
import type { Config, Environment } from './config.ts';
import { createLogger } from './logger.ts';
import { packageRoot, packageVersion } from './package.ts';
import { createWorkspaces } from './workspaces.ts';

/** How fast the demonstration speaks: fast enough not to bore, slow enough to be seen streaming. */
const DEMO_PACE_MS = 15;

const LOGIN = {
  type: 'terminal' as const,
  id: 'login',
  name: 'Log in with an API key',
  description: 'Asks for the API key of the model server in a terminal, and keeps it',
  args: ['login'],
};

interface Role {
  serves?: boolean;
}

export interface Composition {
  runtime: Runtime;
  log: SqliteLog;
  logger: Logger;
  openPeer: OpenPeer;
  dataDir: DataDirLock;
  /** Stops every running Turn, then closes the Log and gives the data directory back. */
  close(turns: Parameters<typeof stopAll>[1]): Promise<void>;
}

export function databaseOptions(config: Pick<Config, 'dataDir'>) {
  return { file: join(config.dataDir, 'pixir.db'), migrationsDir: join(packageRoot(), 'migrations') };
}

export function sandboxOptions(config: Config, env: Environment): SandboxOptions {
  const { sandbox: mode, sandboxNetwork, dataDir, tokenFile } = config;
  return { mode, network: sandboxNetwork === 'on', hidden: tokenFile ? [dataDir, tokenFile] : [dataDir], env };
}

/**
 * Builds the agent over the data directory and closes what a crash left open.
 *
 * @param role whether other processes can join this one.
 * @throws CoreError `data_dir_locked`, `database_newer`, `database_corrupt`, `config_invalid`.
 */
export async function compose(config: Config, env: Environment, role: Role = {}): Promise<Composition> {
  const logger = createLogger(config.logLevel);
  const sandbox = createSandbox(sandboxOptions(config, env));
  await using stack = new AsyncDisposableStack();
  const dataDir = stack.adopt(claimDataDir(config.dataDir, role), (lock) => lock.release());
  const log = stack.adopt(openSqliteLog({ ...databaseOptions(config), clock: systemClock }), (open) => open.close());
  await checkSandbox(sandbox, config, role, logger);
  const runtime = composeRuntime(config, env, { log, logger, sandbox, role });
  await preparePlayground(config);
  await recover(runtime);
  const agent = {
    runtime,
    name: 'pixir',
    version: packageVersion(),
    authMethods: [LOGIN],
    limits: connectionLimits(config, role),
    onError: runtime.onError,
  };
  const held = stack.move();
  return {
    runtime,
    log,
    logger,
    dataDir,
    openPeer: (transport, principal) => openPeer(agent, transport, principal),
    async close(turns) {
      await stopAll(runtime, turns);
      await runtime.toolboxes.close();
      await held.disposeAsync();
    },
  };
}

/** Waits for the trial only where its outcome matters at the start. */
async function checkSandbox(sandbox: Sandbox, { sandbox: mode }: Config, { serves }: Role, logger: Logger) {
  if (mode !== 'required' && !(mode === 'auto' && serves)) return;
  const status = await sandbox.status();
  if (status.kind === 'none') logger.warn({}, `commands are not confined: ${status.why}`);
}

interface Parts {
  log: SqliteLog;
  logger: Logger;
  sandbox: Sandbox;
  role: Role;
}

function composeRuntime(config: Config, env: Environment, { log, logger, sandbox, role }: Parts): Runtime {
  const onError = (error: unknown) => {
    const { code, message } = toCoreError(error);
    logger.error({ code, err: error }, message);
  };
  const entry = PROVIDERS[config.provider];
  const home = env.HOME || homedir();
  const hidden = [realpathSync(config.dataDir)];
  const findSkills = createSkillFinder({
    home,
    dataDir: config.dataDir,
    warn: (message) => logger.warn({}, message),
  });
  return createRuntime({
    log,
    blobs: log.blobs,
    onError,
    clock: systemClock,
    bus: createBus(onError),
    provider: entry.create({
      apiKey: config.openaiApiKey?.reveal(),
      baseUrl: config.openaiBaseUrl,
      pace: DEMO_PACE_MS,
    }),
    tools: createTools({ env, sandbox, hidden, findSkills }),
    findSkills,
    openServers: createMcp({
      env,
      sandbox,
      version: packageVersion(),
      // Over stdio the client has started this process, and could as well start any other.
      allowed: role.serves ? { commands: config.mcpCommands, origins: config.mcpOrigins } : null,
      trusted: config.mcpTrusted,
    }),
    ...createWorkspaces(config.workspaces, home),
    listFiles: createFileLister(hidden),
    verifyLog: log.verifySession,
    hasRoom: diskRoom({
      dir: config.dataDir,
      minFreeBytes: config.limits.minFreeDiskBytes,
      clock: systemClock,
      onLow: (freeBytes) => logger.warn({ freeBytes }, 'the disk is nearly full: new prompts are refused'),
    }),
    settings: {
      models: catalogue(config),
      effort: config.reasoningEffort,
      permissionCeiling: config.permissionMode,
      permissionTimeoutMs: config.permissionTimeoutMs,
      turnTimeoutMs: config.turnTimeoutMs ?? null,
      maxIterations: config.maxIterations ?? null,
      autoCompact: config.autoCompact === 'on',
      recovery: config.recovery,
      limits: runtimeLimits(config),
      sandbox: async () => (await sandbox.status()).kind,
    },
  });
}

function runtimeLimits({ limits }: Config): RuntimeLimits {
  return {
    sessions: limits.maxSessions,
    sessionsPerOwner: limits.maxSessionsPerOwner,
    runningTurns: limits.maxRunningTurns,
    runningTurnsPerOwner: limits.maxRunningTurnsPerOwner,
  };
}

function connectionLimits({ limits }: Config, { serves }: Role): ConnectionLimits {
  return {
    requestsInFlight: limits.maxRequestsInFlight,
    attachedSessions: limits.maxAttachedSessions,
    // Over stdio nobody else waits for the place, and an editor may start us long before it speaks.
    initializeTimeoutMs: serves ? limits.initializeTimeoutMs : null,
  };
}

/** The models that clients are offered; the default one first. */
function catalogue({ provider, model, models }: Config): [ModelInfo, ...ModelInfo[]] {
  const entry = PROVIDERS[provider];
  const offered = models ?? entry.defaultModels;
  const first = model ?? offered[0] ?? provider;
  const rest = offered.filter((id) => id !== first);
  const info = (id: string): ModelInfo => ({ id, name: id, contextWindow: entry.contextWindow(id) });
  return [info(first), ...rest.map(info)];
}

/** The sample project that the demonstration works on; what a person changed in it stays changed. */
async function preparePlayground(config: Config): Promise<void> {
  const directory = join(config.dataDir, 'playground');
  if (!config.workspaces?.includes(directory)) return;
  for (const [path, content] of Object.entries(playgroundFiles)) {
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}
