/**
 * The reference client: `connect` gives Sessions that lose nothing, and hides connections coming and going. It runs in
 * browsers and in Node and needs nothing but WebSocket. Source: docs/reconnect.md.
 */
import type { InitializeResponse, NewSessionRequest, RequestPermissionRequest } from '@agentclientprotocol/sdk';
import type { CaughtUp, Methods, StateChange, UpdateParams } from '../acp/wire.ts';
import type { RefusedReason } from './close-codes.ts';
import { Link, type LinkState } from './link.ts';
import { type ClientStorage, noStorage, type SessionMemory, sessionMemory } from './memory.ts';
import { type Address, type Ports, systemPorts } from './ports.ts';
import { ClientError, closed, createRpc, type RequestId, type Rpc } from './rpc.ts';
import { Session, type SessionHost, type SessionOptions, UNKNOWN_SESSION } from './session.ts';

export type {
  Directories,
  FoundFile,
  ListedSession,
  LoggedEvent,
  LogPage,
  LogVerdict,
  Methods,
  SessionDetails,
  SessionStatus,
  SessionsChanged,
} from '../acp/wire.ts';

export interface ClientOptions {
  /** The bearer token. Node only: a page cannot send headers, and signs in with a cookie or a ticket. */
  token?: string;
  /** Gets a single-use ticket, for each connection anew. */
  ticket?: () => Promise<string>;
  /** Where transcripts, cursors and the unanswered prompt survive; `localStorage` fits. Absent: this life only. */
  storage?: ClientStorage;
  /** For tests, and for transports of one's own. */
  ports?: Partial<Ports>;
}

export type ClientState =
  /** Connected, and every Session shows what the server has. */
  | { kind: 'live' }
  /** Connected, and something is still coming. */
  | { kind: 'catching_up' }
  /** Not connected; trying. */
  | { kind: 'reconnecting' }
  /** Not connected, and not trying: no network, or closed. */
  | { kind: 'offline' }
  /** The server does not want us: a person must do something, then `retry`. */
  | { kind: 'refused'; reason: RefusedReason };

/** What a Session's own functions do not cover; answered on this connection or the next, so it may arrive twice. */
export type PlainMethod = Exclude<
  keyof Methods,
  | 'initialize'
  | 'session/load'
  | 'session/resume'
  | 'session/prompt'
  | '_pixir/session/attach'
  | '_pixir/session/detach'
>;

const FRAME_TOO_BIG = 1009;
const METHOD_NOT_FOUND = -32601;

/** @param url of the server, http(s) or ws(s); without a path it is `/acp`. */
export function connect(url: string, options: ClientOptions = {}): Client {
  return new Client(url, options);
}

export class Client {
  readonly #link: Link;
  readonly #rpc: Rpc;
  readonly #host: SessionHost;
  /** Resolves with `initialize`, rejects where there will be none; then another one for the next connection. */
  #initialized = Promise.withResolvers<void>();
  #settled = false;
  /** By id; those that are still being opened are in `#opening` only. */
  readonly #sessions = new Map<string, Session>();
  readonly #opening = new Map<string, Promise<Session>>();
  readonly #memories = new Map<string, SessionMemory>();
  readonly #listeners = new Set<(state: ClientState) => void>();
  #state: ClientState = { kind: 'reconnecting' };
  #server: InitializeResponse | undefined;

  constructor(url: string, options: ClientOptions) {
    const ports: Ports = { ...systemPorts, ...options.ports };
    const storage = options.storage ?? noStorage();
    this.#rpc = createRpc({
      send: (text) => this.#link.send(text),
      onRequest: (id, method, params) => this.#asked(id, method, params as RequestPermissionRequest),
      onNotification: (method, params) => this.#heard(method, params as { sessionId?: string }),
    });
    this.#link = new Link({
      ports,
      address: () => addressOf(url, options),
      onMessage: this.#rpc.receive,
      onState: (state) => this.#linkChanged(state),
    });
    this.#host = {
      ports,
      rpc: this.#rpc,
      memory: (sessionId) => this.#memory(sessionId, storage),
      request: (method, params) => this.#request(method, params),
      caughtUp: () => this.#refresh(),
      ended: (sessionId) => this.#forget(sessionId),
    };
    this.#link.start();
  }

  get state(): ClientState {
    return this.#state;
  }

  /** What the server said of itself; undefined before the first connection. */
  get server(): InitializeResponse | undefined {
    return this.#server;
  }

  /** Hears every change of `state`. @returns what ends it. */
  onState(listener: (state: ClientState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Begins a Session in a directory. @throws ClientError `error_response`, `refused`, `closed`. */
  async newSession(params: Partial<NewSessionRequest> & { cwd: string }, options?: SessionOptions): Promise<Session> {
    const { sessionId } = await this.#request('session/new', { mcpServers: [], ...params });
    return this.session(sessionId, options);
  }

  /** A Session that exists, at the place where this client left it. Does not wait for a connection. */
  session(sessionId: string, options: SessionOptions = {}): Promise<Session> {
    const session = this.#opening.get(sessionId) ?? this.#open(sessionId, options);
    this.#opening.set(sessionId, session);
    return session;
  }

  /** @throws ClientError `error_response`, `refused`, `closed`. */
  request<N extends PlainMethod>(method: N, params: Methods[N]['params']): Promise<Methods[N]['result']> {
    return this.#request(method, params);
  }

  /** Tries to connect again, at once. */
  retry(): void {
    this.#link.start();
  }

  /** Ends the connection. Sessions and their Turns go on at the server. */
  close(): void {
    this.#link.close();
    for (const session of [...this.#sessions.values()]) session.failed(closed());
  }

  get #isInitialized(): boolean {
    return this.#settled && this.#link.state.kind === 'open';
  }

  #asked(id: RequestId, method: string, params: RequestPermissionRequest): void {
    // Of a Session that we let go of a moment ago, a question is left to others: any answer would decide it.
    if (method === 'session/request_permission') this.#sessions.get(params.sessionId)?.asked(id, params);
    else this.#rpc.refuse(id, METHOD_NOT_FOUND, 'method not found');
  }

  #heard(method: string, params: { sessionId?: string }): void {
    const session = this.#sessions.get(params.sessionId ?? '');
    if (method === 'session/update') session?.update(params as UpdateParams);
    else if (method === '_pixir/session/caught_up') session?.nowCaughtUp(params as CaughtUp);
    else if (method === '_pixir/session/state') session?.stateChanged(params as StateChange);
    else if (method === '_pixir/session/closed') session?.failed(closed(UNKNOWN_SESSION));
    else if (method === '$/cancel_request') this.#withdrawn((params as { requestId: RequestId }).requestId);
  }

  #withdrawn(id: RequestId): void {
    for (const session of this.#sessions.values()) if (session.withdrawn(id)) return;
  }

  #linkChanged(link: LinkState): void {
    if (link.kind === 'open') {
      this.#initialize();
    } else {
      this.#lost(link);
    }
    this.#refresh();
  }

  #lost(link: LinkState): void {
    if (this.#settled) this.#initialized = Promise.withResolvers();
    this.#settled = link.kind === 'refused' || link.kind === 'closed';
    // Nobody may be waiting for it.
    this.#initialized.promise.catch(() => undefined);
    if (this.#settled) this.#initialized.reject(link.kind === 'refused' ? refused(link.reason) : closed());
    this.#rpc.lost();
    const tooLarge = link.kind === 'waiting' && link.code === FRAME_TOO_BIG;
    for (const session of this.#sessions.values()) session.disconnected(tooLarge);
  }

  #initialize(): void {
    const clientCapabilities = { _meta: { pixir: { cursor: 1 } } };
    this.#rpc.ask(
      'initialize',
      { protocolVersion: 1, clientCapabilities },
      {
        resolve: (server) => this.#ready(server),
        reject: (error) => {
          if (error.reason !== 'connection_lost') this.#link.refuse('protocol');
        },
      },
    );
  }

  #ready(server: InitializeResponse): void {
    const offered = server.agentCapabilities?._meta?.pixir as { attach?: unknown } | undefined;
    if (!offered?.attach) {
      this.#link.refuse('protocol');
      return;
    }
    this.#server = server;
    this.#settled = true;
    this.#initialized.resolve();
    for (const session of this.#sessions.values()) session.connected();
    this.#refresh();
  }

  #refresh(): void {
    const caughtUp = this.#isInitialized && [...this.#sessions.values()].every((session) => session.caughtUp);
    const next = stateOf(this.#link.state, caughtUp);
    // Not sooner: a server that fails in every replay must not be asked for it four times a second.
    if (next.kind === 'live') this.#link.proved();
    if (next.kind === this.#state.kind) return;
    this.#state = next;
    for (const listener of this.#listeners) listener(next);
  }

  /** Asks on this connection or the next, until it is answered. */
  async #request<N extends keyof Methods>(method: N, params: Methods[N]['params']): Promise<Methods[N]['result']> {
    for (;;) {
      await this.#initialized.promise;
      try {
        return await this.#rpc.request(method, params);
      } catch (error) {
        if (!(error instanceof ClientError && error.reason === 'connection_lost')) throw error;
      }
    }
  }

  async #open(sessionId: string, options: SessionOptions): Promise<Session> {
    const session = await Session.open(sessionId, this.#host, options);
    this.#sessions.set(sessionId, session);
    if (this.#isInitialized) session.connected();
    this.#refresh();
    return session;
  }

  #memory(sessionId: string, storage: ClientStorage): SessionMemory {
    const memory = this.#memories.get(sessionId) ?? sessionMemory(storage, sessionId);
    this.#memories.set(sessionId, memory);
    return memory;
  }

  #forget(sessionId: string): void {
    this.#opening.delete(sessionId);
    this.#sessions.delete(sessionId);
    this.#refresh();
  }
}

function refused(reason: RefusedReason): ClientError {
  return new ClientError('refused', `the server refuses us: ${reason}`);
}

function stateOf(link: LinkState, caughtUp: boolean): ClientState {
  switch (link.kind) {
    case 'open':
      return { kind: caughtUp ? 'live' : 'catching_up' };
    case 'connecting':
    case 'waiting':
      return { kind: 'reconnecting' };
    case 'refused':
      return link;
    case 'offline':
    case 'closed':
      return { kind: 'offline' };
  }
}

async function addressOf(url: string, { token, ticket }: ClientOptions): Promise<Address> {
  const at = new URL(url);
  at.protocol = at.protocol.replace('http', 'ws');
  if (at.pathname === '/') at.pathname = '/acp';
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const protocols = ticket ? ['acp.v1', `pixir.ticket.${await ticket()}`] : ['acp.v1'];
  return { url: at.href, protocols, headers };
}
