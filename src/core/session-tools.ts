/**
 * What a Session has beyond the table of tools: those of servers that its clients name. They live in memory beside the
 * Session and are never recorded: a server's settings hold secrets, which no log, error or answer may repeat.
 */
import type { Clock } from './clock.ts';
import type { Tool } from './tool.ts';

interface Setting {
  name: string;
  value: string;
}

/** Where a server is and how to talk to it, as a client says. */
export type ToolServer =
  | { type: 'stdio'; name: string; command: string; args: readonly string[]; env: readonly Setting[] }
  | { type: 'http' | 'sse'; name: string; url: string; headers: readonly Setting[] };

/** How one server fared. The message is for people and holds nothing of the server's settings. */
export interface ServerStatus {
  name: string;
  ok: boolean;
  message?: string;
}

/** The servers of one list. None of these functions ever rejects because of a server. */
export interface ServerSet {
  /** Connects to every server that is not connected; one that fails disturbs no other. */
  connect(): Promise<ServerStatus[]>;
  /** What there is now, for one Turn: a server that has ended meanwhile is given one more try. */
  tools(): Promise<readonly Tool[]>;
  /** Ends all connections, and what was started for them; nothing of it survives. */
  close(): Promise<void>;
}

/** The port. Connects to nothing yet. */
export type OpenServers = (servers: readonly ToolServer[], workspace: string) => ServerSet;

/** How long a Session that nobody holds keeps its servers: a page that is loaded again should find them running. */
const GRACE_MS = 60_000;

interface Box {
  /** The list that it was opened with. */
  list: string;
  servers: ServerSet;
  /** Settles when the Turn that uses it has ended; never rejects. */
  turn: Promise<unknown>;
  /** Calls off its end. */
  keep(): void;
}

/** The servers of every Session that has some. */
export class Toolboxes {
  readonly #open: OpenServers;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #boxes = new Map<string, Box>();
  readonly #closing = new Set<Promise<void>>();

  constructor(open: OpenServers, clock: Clock, onError: (error: unknown) => void) {
    this.#open = open;
    this.#clock = clock;
    this.#onError = onError;
  }

  /** Gives the Session these servers in place of those it has. The same list again keeps what is connected. */
  async equip(sessionId: string, workspace: string, servers: readonly ToolServer[]): Promise<ServerStatus[]> {
    const list = JSON.stringify(servers);
    const known = this.#boxes.get(sessionId);
    if (known?.list === list) return await known.servers.connect();
    if (known) void this.#remove(sessionId, known);
    if (servers.length === 0) return [];
    const box = { list, servers: this.#open(servers, workspace), turn: Promise.resolve(), keep: () => {} };
    this.#boxes.set(sessionId, box);
    return await box.servers.connect();
  }

  /** The tools for a Turn, which may use them until `ended` settles. @throws the signal's reason. */
  async lend(sessionId: string, signal: AbortSignal, ended: Promise<unknown>): Promise<readonly Tool[]> {
    const box = this.#boxes.get(sessionId);
    if (!box) return [];
    box.turn = ended.catch(() => undefined);
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    try {
      signal.throwIfAborted();
      return await Promise.race([box.servers.tools(), aborted]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Hears when somebody holds a Session and when nobody does any more: then its servers end, after a while. */
  held(sessionId: string, held: boolean): void {
    const box = this.#boxes.get(sessionId);
    if (!box) return;
    box.keep();
    box.keep = held ? () => {} : this.#clock.after(GRACE_MS, () => void this.#remove(sessionId, box));
  }

  /** Ends the servers of one Session, or of all, once the Turns that use them have ended. */
  async close(sessionId?: string): Promise<void> {
    const boxes = [...this.#boxes].filter(([id]) => sessionId === undefined || id === sessionId);
    const own = boxes.map(([id, box]) => this.#remove(id, box));
    await Promise.all(sessionId === undefined ? this.#closing : own);
  }

  #remove(sessionId: string, box: Box): Promise<void> {
    box.keep();
    this.#boxes.delete(sessionId);
    const closing = box.turn.then(() => box.servers.close()).catch(this.#onError);
    this.#closing.add(closing);
    return closing.finally(() => this.#closing.delete(closing));
  }
}
