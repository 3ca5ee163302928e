/**
 * An ACP client that does as little as possible: it counts updates without parsing them, and parses only answers. Its
 * own time is part of every figure, so it must stay small.
 */
import { now } from './measure.ts';
import type { Wire } from './wires.ts';

/** What has come since the tally was last taken. */
interface Tally {
  /** All `session/update` notifications. */
  updates: number;
  /** Those that carry text of the answer. */
  chunks: number;
  /** The length of that text. */
  characters: number;
  /** The length of all messages that carried updates. */
  bytes: number;
}

export interface Answered extends Tally {
  began: number;
  ended: number;
}

export interface ClientOptions {
  /** Asks for a cursor on every update. */
  cursors?: boolean;
}

export interface Client {
  request<T = unknown>(method: string, params: object): Promise<T>;
  /** Opens a new Session. */
  newSession(cwd: string): Promise<string>;
  /** Sends a prompt and waits for its answer. */
  prompt(sessionId: string, text: string): Promise<Answered>;
  takeTally(): Tally;
  /** The next notification of this method; those that nobody waits for are dropped. */
  notified(method: string): Promise<void>;
  /** Where the last update that carried a cursor leaves this client. */
  cursor(): string;
  close(): void;
}

interface Response {
  id?: number;
  method?: string;
  result?: unknown;
  error?: { message: string };
}

const UPDATE = '"method":"session/update"';
/** Somewhere in the first members of a message; the longest other member before it is `jsonrpc`. */
const HEAD = 64;
const CHUNK = '"agent_message_chunk"';
const TEXT = '"text":"';
const CURSOR = /"cursor":"([^"]+)"/;
const NOTHING: Tally = { updates: 0, chunks: 0, characters: 0, bytes: 0 };

/** @param open connects; what it hands to its argument are whole messages. */
export async function openClient(
  open: (onMessage: (text: string) => void) => Promise<Wire> | Wire,
  { cursors = false }: ClientOptions = {},
): Promise<Client> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const awaited = new Map<string, PromiseWithResolvers<void>>();
  let tally = { ...NOTHING };
  let lastUpdate = '';
  let lastId = 0;

  function count(text: string): void {
    tally.updates += 1;
    tally.bytes += text.length;
    lastUpdate = text;
    if (!text.includes(CHUNK)) return;
    const start = text.indexOf(TEXT) + TEXT.length;
    tally.chunks += 1;
    tally.characters += text.indexOf('"', start) - start;
  }

  function onMessage(text: string): void {
    const at = text.indexOf(UPDATE);
    if (at !== -1 && at < HEAD) {
      count(text);
      return;
    }
    const { id, method, result, error } = JSON.parse(text) as Response;
    if (method !== undefined) {
      if (id !== undefined) throw new Error(`unexpected ${method} from the agent`);
      awaited.get(method)?.resolve();
      awaited.delete(method);
      return;
    }
    const settle = waiting.get(id ?? 0);
    waiting.delete(id ?? 0);
    if (error) settle?.reject(new Error(`the agent refused: ${error.message}`));
    else settle?.resolve(result);
  }

  const wire = await open(onMessage);

  function request<T>(method: string, params: object): Promise<T> {
    lastId += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(lastId, answer);
    wire.send(JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params }));
    return answer.promise as Promise<T>;
  }

  function takeTally(): Tally {
    const taken = tally;
    tally = { ...NOTHING };
    return taken;
  }

  const clientCapabilities = cursors ? { _meta: { pixir: { cursor: 1 } } } : {};
  await request('initialize', { protocolVersion: 1, clientCapabilities });
  return {
    request,
    takeTally,
    newSession: async (cwd) => (await request<{ sessionId: string }>('session/new', { cwd, mcpServers: [] })).sessionId,
    async prompt(sessionId, text) {
      takeTally();
      const began = now();
      await request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
      return { began, ended: now(), ...takeTally() };
    },
    notified(method) {
      const next = awaited.get(method) ?? Promise.withResolvers<void>();
      awaited.set(method, next);
      return next.promise;
    },
    cursor() {
      const [, cursor] = CURSOR.exec(lastUpdate) ?? [];
      if (cursor === undefined) throw new Error(`no cursor on ${lastUpdate}`);
      return cursor;
    },
    close: () => wire.close(),
  };
}
