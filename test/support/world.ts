/** A whole agent for tests: the real runtime over ports that are real implementations, and as many clients as wanted. */
import type { ConnectionLimits } from '../../src/acp/agent.ts';
import { openPeer } from '../../src/acp/peer.ts';
import type { OpenPeer } from '../../src/acp/transport.ts';
import { createWorkspaces } from '../../src/cli/workspaces.ts';
import { type Blobs, blobHash } from '../../src/core/blobs.ts';
import { createBus } from '../../src/core/bus.ts';
import { recover } from '../../src/core/conversation.ts';
import type { Event, EventType } from '../../src/core/event.ts';
import type { RuntimeLimits } from '../../src/core/limits.ts';
import type { Log } from '../../src/core/log.ts';
import type { Principal } from '../../src/core/principal.ts';
import type { Provider } from '../../src/core/provider.ts';
import { createRuntime, type Runtime, type RuntimeParts, type RuntimeSettings } from '../../src/core/runtime.ts';
import type { Tool } from '../../src/core/tool.ts';
import { createScripted, type Script, type ScriptedProvider } from '../../src/providers/scripted.ts';
import { type MemoryLog, memoryLog } from '../../src/store/memory-log.ts';
import { createFileLister } from '../../src/tools/file-lister.ts';
import { createMcp, type McpOptions } from '../../src/tools/mcp.ts';
import { noSandbox } from '../../src/tools/sandbox.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';
import { connectInMemory, type MemoryConnection } from './memory-wire.ts';
import { tempDir } from './temp-dir.ts';
import { TEST_TOOLS } from './tools.ts';
import type { WireClient } from './wire-client.ts';

export interface WorldOptions {
  script?: Script;
  provider?: Provider;
  tools?: readonly Tool[];
  log?: Log & { blobs?: Blobs };
  settings?: Partial<Omit<RuntimeSettings, 'limits'>>;
  /** Those that differ from what is far more than a test needs. */
  limits?: Partial<RuntimeLimits & ConnectionLimits>;
  hasRoom?: RuntimeParts['hasRoom'];
  openServers?: RuntimeParts['openServers'];
  findSkills?: RuntimeParts['findSkills'];
}

export interface World extends AsyncDisposable {
  dir: string;
  clock: FakeClock;
  log: MemoryLog;
  provider: ScriptedProvider;
  runtime: Runtime;
  openPeer: OpenPeer;
  /** What went wrong where nobody waits. A test that expects something here must empty it. */
  errors: unknown[];
  connect(principal?: Principal): MemoryConnection;
  /** A connected and initialized client. */
  client(principal?: Principal): Promise<WireClient>;
  events(sessionId: string): Promise<Event[]>;
  types(sessionId: string): Promise<EventType[]>;
  /** What is stored of these bytes. */
  blob(base64: string): Promise<Uint8Array | undefined>;
  /** A second server on the same Log, as after a crash: nothing of the first one's memory is left. */
  restart(options?: WorldOptions): Promise<World>;
}

const MODELS: RuntimeSettings['models'] = [
  { id: 'm1', name: 'Model 1', contextWindow: 1_000 },
  { id: 'm2', name: 'Model 2', contextWindow: null },
];

const LIMITS: RuntimeLimits & ConnectionLimits = {
  sessions: 10_000,
  sessionsPerOwner: 10_000,
  runningTurns: 1_000,
  runningTurnsPerOwner: 1_000,
  requestsInFlight: 256,
  attachedSessions: 256,
  initializeTimeoutMs: null,
};

const LOGIN = { type: 'terminal' as const, id: 'login', name: 'Log in', args: ['login'] };

/** Over stdio, as far as a test does not say otherwise: every server is allowed, none is believed. */
export function mcp(options: Partial<McpOptions> = {}) {
  const env = { PATH: process.env.PATH };
  return createMcp({ env, sandbox: noSandbox, version: '0.0.0', allowed: null, trusted: [], ...options });
}

export async function world(options: WorldOptions = {}): Promise<World> {
  const dir = await tempDir();
  const clock = fakeClock();
  const log = (options.log ?? memoryLog(clock)) as MemoryLog;
  return build(options, { dir: dir.path, clock, log, dispose: async () => dir[Symbol.asyncDispose]() });
}

interface Ground {
  dir: string;
  clock: FakeClock;
  log: MemoryLog;
  dispose(): Promise<void>;
}

async function build(options: WorldOptions, { dir, clock, log, dispose }: Ground): Promise<World> {
  const provider = createScripted({ script: options.script });
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const limits = { ...LIMITS, ...options.limits };
  const runtime = createRuntime({
    log,
    blobs: log.blobs,
    clock,
    onError,
    bus: createBus(onError),
    provider: options.provider ?? provider,
    tools: options.tools ?? TEST_TOOLS,
    settings: {
      models: MODELS,
      effort: 'default',
      permissionCeiling: 'auto',
      permissionTimeoutMs: 60_000,
      turnTimeoutMs: null,
      maxIterations: null,
      autoCompact: true,
      recovery: 'interrupt',
      limits,
      ...options.settings,
    },
    hasRoom: options.hasRoom ?? (async () => true),
    openServers: options.openServers ?? mcp(),
    findSkills: options.findSkills ?? (async () => []),
    ...createWorkspaces(null, dir),
    listFiles: createFileLister([]),
    verifyLog: log.verifySession,
  });
  await recover(runtime);
  const open: OpenPeer = (transport, principal) =>
    openPeer({ runtime, limits, name: 'pixir', version: '0.0.0', authMethods: [LOGIN], onError }, transport, principal);
  const connections: MemoryConnection[] = [];
  const connect = (principal?: Principal) => {
    const connection = connectInMemory(open, principal);
    connections.push(connection);
    return connection;
  };
  const self: World = {
    dir,
    clock,
    log,
    provider,
    runtime,
    openPeer: open,
    errors,
    connect,
    async client(principal) {
      const { client } = connect(principal);
      await client.initialize();
      return client;
    },
    events: async (sessionId) => (await log.read(sessionId, -1, 100_000)).map(({ event }) => event),
    blob: (base64) => log.blobs.get(blobHash(Buffer.from(base64, 'base64'))),
    types: async (sessionId) => (await self.events(sessionId)).map(({ type }) => type),
    restart(next = {}) {
      clock.forget();
      const same = (next.log ?? log) as MemoryLog;
      return build({ ...options, ...next }, { dir, clock, log: same, dispose: async () => {} });
    },
    async [Symbol.asyncDispose]() {
      for (const { client } of connections) client.close();
      await runtime.toolboxes.close();
      await dispose();
      for (const { client } of connections) client.assertSound();
      if (errors.length > 0) throw errors[0];
    },
  };
  return self;
}
