/**
 * The server of the model: a whole agent that can die at any moment, and the next one on the same Log. What a dead one
 * still does reaches nobody, and nothing of it is written.
 */
import type { OpenPeer } from '../../../src/acp/transport.ts';
import type { Bus } from '../../../src/core/bus.ts';
import type { Event } from '../../../src/core/event.ts';
import type { Log } from '../../../src/core/log.ts';
import { memoryLog } from '../../../src/store/memory-log.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { type World, world } from '../../support/world.ts';
import { countedTools, createPacer, type Deeds, type Pacer, pacedProvider } from './model-script.ts';

export interface Server extends AsyncDisposable {
  readonly dir: string;
  readonly openPeer: OpenPeer;
  readonly log: Log;
  readonly deeds: Deeds;
  /** What went wrong where nobody waits, in any of its lives. */
  errors(): unknown[];
  events(sessionId: string): Promise<Event[]>;
  grant(events: number): void;
  /** So many live deltas, counted for each that would have heard one, are lost on the bus. */
  lose(deltas: number): void;
  advance(ms: number): void;
  restart(): Promise<void>;
}

export const turnOfLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

export async function startServer(): Promise<Server> {
  // Its times stand still; nothing is decided by them.
  const log = memoryLog(fakeClock());
  const deeds: Deeds = new Map();
  const lives: World[] = [];
  let pacer: Pacer;
  let life: MortalLog;
  let lost = 0;
  const parts = () => {
    pacer = createPacer();
    life = mortal(log);
    return { log: life.log, provider: pacedProvider(pacer), tools: countedTools(pacer, deeds) };
  };
  const live = (next: World) => {
    next.runtime.bus = lossy(next.runtime.bus, () => lost > 0 && lost-- > 0);
    lives.push(next);
    return next;
  };
  const first = live(await world({ ...parts(), settings: { recovery: 'resume', permissionCeiling: 'ask' } }));
  let current = first;
  return {
    dir: first.dir,
    get openPeer() {
      return current.openPeer;
    },
    log,
    deeds,
    errors: () => lives.flatMap(({ errors }) => errors),
    events: async (sessionId) => (await log.read(sessionId, -1, 100_000)).map(({ event }) => event),
    grant: (events) => pacer.grant(events),
    lose(deltas) {
      lost = deltas;
    },
    advance: first.clock.advance,
    async restart() {
      life.die();
      // What it had handed over is on the disk, though nobody was told.
      await log.close();
      current = live(await current.restart(parts()));
    },
    [Symbol.asyncDispose]: () => first[Symbol.asyncDispose](),
  };
}

/** The bus is lossy by contract: whoever misses a delta finds its text in the Session. */
function lossy(bus: Bus, isLost: () => boolean): Bus {
  return {
    ...bus,
    subscribe: (sessionId, listener) =>
      bus.subscribe(sessionId, (signal) => {
        if (signal.type !== 'delta' || !isLost()) listener(signal, sessionId);
      }),
  };
}

interface MortalLog {
  log: Log;
  die(): void;
}

/** The Log as one process sees it. What is on its way when the process dies is recorded or not, and is not answered. */
function mortal(log: Log): MortalLog {
  let dead = false;
  const never = new Promise<never>(() => {});
  async function answer<T>(work: Promise<T>): Promise<T> {
    const result = await work;
    return dead ? never : result;
  }
  async function write<T>(work: () => Promise<T>): Promise<T> {
    await turnOfLoop();
    return dead ? never : answer(work());
  }
  return {
    die() {
      dead = true;
    },
    log: {
      append: (drafts) => write(() => log.append(drafts)),
      saveDraft: (sessionId, draft) => write(() => log.saveDraft(sessionId, draft)),
      saveSnapshot: (sessionId, snapshot) => write(() => log.saveSnapshot(sessionId, snapshot)),
      read: (sessionId, after, limit) => answer(log.read(sessionId, after, limit)),
      session: (sessionId) => answer(log.session(sessionId)),
      sessions: (query) => answer(log.sessions(query)),
      count: (owner) => answer(log.count(owner)),
      draft: (sessionId) => answer(log.draft(sessionId)),
      snapshot: (sessionId) => answer(log.snapshot(sessionId)),
      deleteSession: (sessionId) => write(() => log.deleteSession(sessionId)),
      close: () => log.close(),
    },
  };
}
