/** One server of a Session's list: connected, failed, or not yet tried. It fails alone and says why in words of ours. */
import { CoreError } from '../core/errors.ts';
import type { ServerStatus, ToolServer } from '../core/session-tools.ts';
import type { Connection, ConnectionOptions } from './mcp-connection.ts';
import type { Offer } from './mcp-tools.ts';

/** Of all Sessions together. */
const MAX_RUNNING = 256;

type State = { kind: 'idle' } | { kind: 'failed'; message: string } | { kind: 'open'; connection: Connection };

interface Place {
  workspace: string;
  options: ConnectionOptions;
  /** Why it must not be connected to. */
  refused: string | undefined;
  trusted: boolean;
  /** Those that have a place. */
  running: Set<McpServer>;
}

export class McpServer {
  readonly #entry: ToolServer;
  readonly #place: Place;
  #state: State = { kind: 'idle' };

  constructor(entry: ToolServer, place: Place) {
    this.#entry = entry;
    this.#place = place;
  }

  /** Connects unless it is connected. */
  async connect(life: AbortSignal): Promise<void> {
    if (this.#state.kind === 'open' && !this.#state.connection.closed) return;
    this.#state = await this.#open(life);
  }

  /** Before a Turn: one that has ended since is tried again, one that could not be connected to is not. */
  async mend(life: AbortSignal): Promise<void> {
    if (this.#state.kind !== 'open') return;
    const { connection } = this.#state;
    if (connection.closed) this.#state = await this.#open(life);
    // What it offered before still stands where it does not say what it offers now.
    else await connection.refresh(this.#deadline(life)).catch(() => undefined);
  }

  offer(): Offer | undefined {
    if (this.#state.kind !== 'open' || this.#state.connection.closed) return undefined;
    const entry = this.#entry;
    const effect = entry.type === 'stdio' ? 'execute' : 'network';
    const place = entry.type === 'stdio' ? [entry.command, ...entry.args] : [entry.url];
    return { server: entry.name, place, connection: this.#state.connection, effect, trusted: this.#place.trusted };
  }

  status(leftOut: ReadonlyMap<string, number>): ServerStatus {
    const { name } = this.#entry;
    if (this.#state.kind !== 'open') {
      return { name, ok: false, message: this.#state.kind === 'failed' ? this.#state.message : 'not connected' };
    }
    const missing = leftOut.get(name);
    return missing === undefined ? { name, ok: true } : { name, ok: true, message: `${missing} tools were left out` };
  }

  async close(): Promise<void> {
    if (this.#state.kind === 'open') await this.#state.connection.close();
    this.#state = { kind: 'idle' };
    this.#place.running.delete(this);
  }

  async #open(life: AbortSignal): Promise<State> {
    const { workspace, options, refused, running } = this.#place;
    if (refused !== undefined) return { kind: 'failed', message: refused };
    if (running.size >= MAX_RUNNING && !running.has(this))
      return { kind: 'failed', message: 'too many MCP servers are running' };
    running.add(this);
    try {
      const { openConnection } = await import('./mcp-connection.ts');
      const connection = await openConnection(this.#entry, workspace, options, this.#deadline(life));
      return { kind: 'open', connection };
    } catch (error) {
      running.delete(this);
      return { kind: 'failed', message: error instanceof CoreError ? error.message : 'the MCP server cannot be used' };
    }
  }

  #deadline(life: AbortSignal): AbortSignal {
    return AbortSignal.any([life, AbortSignal.timeout(this.#place.options.connectMs)]);
  }
}
