/**
 * What a requirement has to work with: one agent that is shared while it behaves, or a fresh one. There is never more
 * than one at a time, as with an editor: many agents keep their Sessions where a second process may not go.
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, type Client, openClient } from './client.ts';
import { within } from './deadline.ts';
import type { Prompts } from './prompts.ts';
import { get, isObject, list, show, skip } from './requirement.ts';
import type { Target } from './transport.ts';

export interface WorldOptions {
  target: Target;
  prompts: Prompts;
  /** Milliseconds that any answer may take. */
  timeout: number;
  /** In a new directory in here Sessions work; where the system keeps such directories when it is absent. */
  cwd?: string | undefined;
  /** The method for `authenticate`, for an agent that wants it. */
  auth?: string | undefined;
  /** Whether `logout` may be tried: it may cost a real login. */
  mayLogout?: boolean | undefined;
}

export interface World extends WorldOptions {
  /** A directory that goes with the run. */
  readonly cwd: string;
  /** Every connection of the run. */
  readonly clients: readonly Client[];
  /** The shared agent, initialized. */
  agent(): Promise<Client>;
  /** A fresh agent to which nothing has been said. */
  fresh(): Promise<Client>;
  /** A fresh agent that knows a client with these capabilities. */
  freshWith(capabilities: unknown): Promise<Client>;
  /** Ends whatever runs, as a user does who leaves. */
  leave(): Promise<void>;
  /** Called after each requirement; one that was not met may have left anything behind. */
  settle(met: boolean): Promise<void>;
}

export async function createWorld(options: WorldOptions): Promise<World & AsyncDisposable> {
  const cwd = await realpath(await mkdtemp(join(options.cwd ?? tmpdir(), 'acp-conformance-')));
  const clients: Client[] = [];
  let shared: Client | undefined;
  let current: Client | undefined;
  let isPolite = true;

  async function leave(): Promise<void> {
    const client = current;
    shared = current = undefined;
    if (!client) return;
    client.transport.end();
    // An agent that did not go when it was asked to is not waited for again.
    const left = client.transport.closed.then(() => true);
    if (isPolite) isPolite = await within(Math.min(options.timeout, 2_000), left, () => false);
    client.transport.kill();
    await client.transport.closed;
  }

  async function fresh(): Promise<Client> {
    await leave();
    current = await openClient(options.target, options.timeout);
    current.handlers.set('session/request_permission', allow);
    clients.push(current);
    return current;
  }

  async function freshWith(capabilities: unknown): Promise<Client> {
    const client = await fresh();
    const answer = await initialize(client, capabilities);
    if (answer.error) skip(`it cannot be initialized (INIT-001): ${show(answer.error)}`);
    if (options.auth !== undefined) await client.request('authenticate', { methodId: options.auth });
    return client;
  }

  return {
    ...options,
    cwd,
    clients,
    async agent() {
      if (!shared || shared.ending) shared = await freshWith({});
      shared.handlers.set('session/request_permission', allow);
      return shared;
    },
    fresh,
    freshWith,
    leave,
    async settle(met) {
      if (!met || current !== shared || (shared?.waiting ?? 0) > 0) await leave();
    },
    async [Symbol.asyncDispose]() {
      await leave();
      await rm(cwd, { recursive: true, force: true });
    },
  };
}

export async function initialize(client: Client, capabilities: unknown = {}, protocolVersion = 1): Promise<Answer> {
  client.capabilities = capabilities;
  const clientInfo = { name: 'acp-conformance', version: '1.0.0' };
  const answer = await client.request('initialize', { protocolVersion, clientCapabilities: capabilities, clientInfo });
  client.initialized = answer.result;
  return answer;
}

/** Chooses what lets the agent go on. */
export function allow(params: unknown): unknown {
  return choose(params, 'allow');
}

export function reject(params: unknown): unknown {
  return choose(params, 'reject');
}

function choose(params: unknown, verb: string): unknown {
  const options = list(get(params, 'options')).filter(isObject);
  const option =
    options.find(({ kind }) => kind === `${verb}_once`) ?? options.find(({ kind }) => String(kind).startsWith(verb));
  return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
}
