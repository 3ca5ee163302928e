/**
 * One client of the model: a reference client on its own network, through as many lives as the schedule gives it. It
 * remembers what it was promised, so that the end can be compared with it.
 */
import { type Client, connect } from '../../../src/client/connect.ts';
import type { ClientStorage } from '../../../src/client/memory.ts';
import { ClientError } from '../../../src/client/rpc.ts';
import type { Session } from '../../../src/client/session.ts';
import { type ClientNetwork, clientNetwork } from '../../support/client-network.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import type { Cast } from './schedule.ts';
import { type Server, turnOfLoop } from './server.ts';

/** Something this client asked for, and what became of it. */
export interface Asked {
  what: 'prompt' | 'configure';
  text: string;
  outcome: 'pending' | { stopReason: string } | { refused: unknown };
}

export interface Actor extends Cast {
  name: string;
  network: ClientNetwork;
  readonly client: Client;
  /** Undefined while it is being opened. */
  readonly session: Session | undefined;
  readonly asked: readonly Asked[];
  /** The options that were given, by permissionId. */
  readonly answered: ReadonlyMap<string, (string | null)[]>;
  /** Every cursor that it was sent. */
  readonly cursors: ReadonlySet<string>;
  /** What must not have happened. */
  readonly complaints: readonly string[];
  create(cwd: string): Promise<string>;
  open(sessionId: string): Promise<void>;
  prompt(answer: string, blocks: number): void;
  answer(option: 'allow' | 'reject' | null): void;
  configure(mode: string): void;
  halfOpen(): void;
  /** It has not noticed yet that its connection is dead. */
  readonly deceived: boolean;
  cutAfter(frames: number, direction: 'in' | 'out'): void;
  /** Its network works again. */
  heal(): void;
  reload(killed: boolean): Promise<void>;
  reopen(): Promise<void>;
  advance(ms: number): void;
}

/** A frame of a few hundred bytes fills a tenth of what a client may be behind. */
const WEIGHT = 512;

export function createActor(name: string, server: Server, cast: Cast, nextPrompt: () => number): Actor {
  const clock = fakeClock();
  const network = clientNetwork(
    () => server.openPeer,
    clock,
    () => (cast.late ? 0.5 : 0),
  );
  network.weight = WEIGHT;
  const ports = { ...network.ports, status: unreachable };
  const disk = new Map<string, string>();
  const asked: Asked[] = [];
  const answered = new Map<string, (string | null)[]>();
  const cursors = new Set<string>();
  const complaints: string[] = [];
  let life = born();
  let session: Session | undefined;
  let sessionId = '';
  /** How many connections there had been when the last one fell silent. */
  let dead = 0;
  heal();

  function born() {
    const storage = storageOn(disk, cast.late);
    return { storage, client: connect('ws://model', { ports, storage }), answered: new Set<string>() };
  }

  function heal(): void {
    network.tap = (direction, frame) => {
      if (direction === 'in') for (const [, cursor = ''] of frame.matchAll(/"cursor":"([^"]+)"/g)) cursors.add(cursor);
      return true;
    };
    network.resume();
  }

  async function open(): Promise<void> {
    const { client, answered: mine } = life;
    const opened = await client.session(sessionId, { role: cast.role, from: cast.from });
    if (life.client !== client) return;
    session = opened;
    void watch(opened, mine);
  }

  async function watch(opened: Session, mine: ReadonlySet<string>): Promise<void> {
    const seen = new Set<string>();
    for await (const change of opened.changes()) {
      if (change.type === 'reset') complaints.push(`${name} was reset: ${change.reason}`);
      if (change.type === 'closed' && change.error.reason !== 'closed') complaints.push(`${name}: ${change.error}`);
      if (change.type !== 'permission') continue;
      const { permissionId } = change.permission;
      if (cast.role === 'observer') complaints.push(`${name} only watches and was asked`);
      // The first question may have been answered before it is read here.
      if (mine.has(permissionId) && seen.has(permissionId)) complaints.push(`${name} was asked what it had answered`);
      seen.add(permissionId);
    }
  }

  function track(what: Asked['what'], text: string, answer: Promise<{ stopReason?: string }>): void {
    const entry: Asked = { what, text, outcome: 'pending' };
    asked.push(entry);
    const { storage } = life;
    const settle = (outcome: Asked['outcome']) => {
      // A life that was killed told nobody anything more.
      entry.outcome = storage.ended() ? { refused: new ClientError('closed', 'killed') } : outcome;
    };
    answer.then(
      ({ stopReason = '' }) => settle({ stopReason }),
      (error) => settle({ refused: error }),
    );
  }

  return {
    ...cast,
    name,
    network,
    get client() {
      return life.client;
    },
    get session() {
      return session;
    },
    asked,
    answered,
    cursors,
    complaints,
    async create(cwd) {
      sessionId = (await life.client.request('session/new', { cwd, mcpServers: [] })).sessionId;
      return sessionId;
    },
    open(id) {
      sessionId = id;
      return open();
    },
    prompt(answer, blocks) {
      if (!session) return;
      const text = `prompt-${nextPrompt()} ${answer}`;
      const more = Array.from({ length: blocks - 1 }, (_, n) => ({ type: 'text' as const, text: ` and ${n}` }));
      track('prompt', text, session.prompt([{ type: 'text', text }, ...more]));
    },
    answer(option) {
      const [permissionId] = session?.permissions.keys() ?? [];
      if (permissionId === undefined) return;
      life.answered.add(permissionId);
      answered.set(permissionId, [...(answered.get(permissionId) ?? []), option]);
      session?.answer(permissionId, option);
    },
    configure(modeId) {
      const answer = life.client.request('session/set_mode', { sessionId, modeId });
      track(
        'configure',
        modeId,
        answer.then(() => ({})),
      );
    },
    halfOpen() {
      dead = network.connections;
      network.halfOpen();
    },
    get deceived() {
      return network.connections <= dead;
    },
    cutAfter(frames, towards) {
      const { tap } = network;
      let left = frames;
      network.tap = (direction, frame) => {
        if (direction !== towards || left-- > 0) return tap(direction, frame);
        network.cut();
        heal();
        return false;
      };
    },
    heal,
    async reload(killed) {
      const old = life;
      if (killed) old.storage.end();
      old.client.close();
      // What the last life wrote on its way out, one after the other, is there before the next one looks.
      do await turnOfLoop();
      while (old.storage.busy());
      session = undefined;
      life = born();
      await open();
    },
    async reopen() {
      session?.close();
      session = undefined;
      await open();
    },
    advance: clock.advance,
  };
}

/** An attempt that fails takes its time, or a client that comes back at once would try for ever in one tick. */
async function unreachable(): Promise<number> {
  await turnOfLoop();
  return 426;
}

/** What survives a life; a killed one writes nothing more. */
function storageOn(
  disk: Map<string, string>,
  late: boolean,
): ClientStorage & { end(): void; ended(): boolean; busy(): boolean } {
  let ended = false;
  let writes = 0;
  async function write(change: () => void): Promise<void> {
    writes++;
    if (late) await turnOfLoop();
    if (!ended) change();
    writes--;
  }
  return {
    getItem: (key) => disk.get(key) ?? null,
    setItem: (key, value) => write(() => disk.set(key, value)),
    removeItem: (key) => write(() => disk.delete(key)),
    end() {
      ended = true;
    },
    ended: () => ended,
    busy: () => writes > 0,
  };
}

/** An end that the client itself chose: its life, or its Session, was over. */
export function wasClosed({ outcome }: Asked): boolean {
  return typeof outcome === 'object' && 'refused' in outcome && reasonOf(outcome.refused) === 'closed';
}

/** Why it was refused, in the server's words where they are the server's. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof ClientError)) return String(error);
  return (error.data as { reason?: string } | undefined)?.reason ?? error.reason;
}
