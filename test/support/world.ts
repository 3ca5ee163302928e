/** A whole agent for tests: the real runtime over ports that are real implementations, and as many clients as wanted. */
import { realpath } from 'node:fs/promises';
import { openPeer } from '../../src/acp/peer.ts';
import type { OpenPeer } from '../../src/acp/transport.ts';
import { createBus } from '../../src/core/bus.ts';
import { recover } from '../../src/core/conversation.ts';
import { CoreError } from '../../src/core/errors.ts';
import type { Event, EventType } from '../../src/core/event.ts';
import type { Log } from '../../src/core/log.ts';
import type { Principal } from '../../src/core/principal.ts';
import type { Provider } from '../../src/core/provider.ts';
import { createRuntime, type Runtime, type RuntimeSettings } from '../../src/core/runtime.ts';
import type { Tool } from '../../src/core/tool.ts';
import { createScripted, type Script, type ScriptedProvider } from '../../src/providers/scripted.ts';
import { type MemoryLog, memoryLog } from '../../src/store/memory-log.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';
import { connectInMemory, type MemoryConnection } from './memory-wire.ts';
import { tempDir } from './temp-dir.ts';
import { TEST_TOOLS } from './tools.ts';
import type { WireClient } from './wire-client.ts';

export interface WorldOptions {
  script?: Script;
  provider?: Provider;
  tools?: readonly Tool[];
  log?: Log;
  settings?: Partial<RuntimeSettings>;
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
  /** A second server on the same Log, as after a crash: nothing of the first one's memory is left. */
  restart(options?: WorldOptions): Promise<World>;
}

const MODELS: RuntimeSettings['models'] = [
  { id: 'm1', name: 'Model 1', contextWindow: 1_000 },
  { id: 'm2', name: 'Model 2', contextWindow: null },
];

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
  const runtime = createRuntime({
    log,
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
      recovery: 'interrupt',
      ...options.settings,
    },
    async resolveWorkspace(path) {
      const real = await realpath(path).catch(() => {
        throw new CoreError('invalid_params', 'no such directory', { field: 'cwd' });
      });
      return real;
    },
  });
  await recover(runtime);
  const open: OpenPeer = (transport, principal) =>
    openPeer({ runtime, name: 'pixir', version: '0.0.0', onError }, transport, principal);
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
    types: async (sessionId) => (await self.events(sessionId)).map(({ type }) => type),
    restart(next = {}) {
      clock.forget();
      const same = (next.log ?? log) as MemoryLog;
      return build({ ...options, ...next }, { dir, clock, log: same, dispose: async () => {} });
    },
    async [Symbol.asyncDispose]() {
      for (const { client } of connections) client.close();
      await dispose();
      for (const { client } of connections) client.assertSound();
      if (errors.length > 0) throw errors[0];
    },
  };
  return self;
}
