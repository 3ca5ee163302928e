/**
 * A sound agent in memory, and the same agent with one defect, by name. It is written by hand: no library would let it
 * be wrong. As a process, `broken.ts DEFECT`, it speaks on stdio.
 */
import { createTurns, type Json, type Session } from './broken-turns.ts';

type Id = string | number | null;

/** The Sessions of one server; they outlive its connections. */
export type Store = Map<string, Session>;

class Fault extends Error {
  readonly code: number;
  readonly data: Json | undefined;

  constructor(code: number, message: string, data?: Json) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const CHOICES: Record<string, string[]> = { mode: ['build', 'plan'], level: ['low', 'high'] };
const KINDS = ['text', 'resource_link'];
/** How many Sessions were made. */
let made = 0;

/** One connection. @returns what takes the messages of the client */
export function openAgent(defect: string, store: Store, write: (text: string) => void): (text: string) => void {
  const is = (name: string) => defect === name;
  let capabilities: Json | undefined;
  let lastAsked = 0;
  const asked = new Map<unknown, (result: Json | undefined) => void>();

  const send = (message: Json) => write(JSON.stringify({ jsonrpc: is('wrong-version') ? '1.0' : '2.0', ...message }));
  const answer = (id: Id, outcome: Json) =>
    send({ id: is('ids-as-text') && typeof id === 'number' ? String(id) : id, ...outcome });
  const refuse = (id: Id, { code, message, data }: Fault) => {
    const both = is('result-and-error') ? { result: null } : {};
    answer(id, { ...both, error: { code, message: is('long-errors') ? `${message}\nat line 1` : message, data } });
  };
  const update = (session: Session, change: Json, sessionId = session.sessionId) => {
    session.replay.push(change);
    send({ method: 'session/update', params: { sessionId, update: change } });
  };
  const ask = (method: string, params: Json) => {
    const id = ++lastAsked;
    send({ id, method, params });
    const { promise, resolve } = Promise.withResolvers<Json | undefined>();
    asked.set(id, resolve);
    return { id, result: promise };
  };

  function offered(session: Session): Json {
    const configOptions: Json[] = Object.entries(CHOICES).map(([id, values]) => {
      const options = values.map((value) => ({ value, name: value }));
      return { id, name: id, category: id, type: 'select', currentValue: session.options[id], options };
    });
    if (is('boolean-option')) configOptions.push({ id: 'b', name: 'b', type: 'boolean', currentValue: true });
    const availableModes = CHOICES.mode?.map((id) => ({ id, name: id }));
    const currentModeId = is('unknown-mode') ? 'other' : session.options.mode;
    return { modes: { currentModeId, availableModes }, configOptions, ...(is('root-members') ? { models: [] } : {}) };
  }

  function find({ sessionId }: Json): Session {
    const session = store.get(String(sessionId));
    if (session) return session;
    if (is('any-session')) return create(String(sessionId), '/');
    throw new Fault(-32002, 'Unknown session', { sessionId });
  }

  function create(sessionId: string, cwd: string): Session {
    const options = { mode: 'build', level: 'low' };
    const session = { sessionId, cwd, options, updatedAt: '', replay: [], allowedAlways: false };
    store.set(sessionId, session);
    return session;
  }

  function choose(session: Session, id: string, value: unknown): void {
    if (!CHOICES[id]?.includes(String(value))) throw new Fault(-32602, 'Unknown value');
    if (!is('option-not-applied')) session.options[id] = String(value);
    const { configOptions } = offered(session);
    const all = configOptions as Json[];
    const told = is('part-of-the-options') && id === 'level' ? all.slice(1) : all;
    send({
      method: 'session/update',
      params: {
        sessionId: session.sessionId,
        update: { sessionUpdate: 'config_option_update', configOptions: told },
      },
    });
  }

  async function prompt(session: Session, blocks: Json[]): Promise<Json> {
    if (is('dies')) process.exit(1);
    if (session.cancel) throw new Fault(-32600, 'A prompt runs');
    const cancelled = Promise.withResolvers<void>();
    let by: 'cancel' | 'close' | undefined;
    session.cancel = (how) => {
      by ??= how;
      cancelled.resolve();
    };
    session.updatedAt = new Date().toISOString();
    const text = blocks.map((block) => block.text ?? '').join('');
    const messageId = `message ${session.replay.length}`;
    for (const content of blocks) session.replay.push({ sessionUpdate: 'user_message_chunk', messageId, content });
    const say = (said: string) => {
      const content = is('bad-update') ? { text: said } : { type: 'text', text: said };
      update(session, { sessionUpdate: 'agent_message_chunk', messageId: `answer to ${messageId}`, content });
    };
    say(`You said ${text}. `);
    if (is('foreign-update')) update(session, { sessionUpdate: 'plan', entries: [] }, 'someone-else');
    if (is('asks-for-files')) await ask('fs/read_text_file', { sessionId: session.sessionId, path: '/x' }).result;
    await TURNS[text]?.(session, cancelled.promise);
    session.cancel = undefined;
    if (is('misspelt-stop-reason')) return { stopReason: 'endTurn' };
    const deaf = (is('cancel-ends-the-turn') && by === 'cancel') || (is('close-ends-the-turn') && by === 'close');
    return { stopReason: by && !deaf ? 'cancelled' : 'end_turn' };
  }

  const TURNS = createTurns({ is, send, update, ask, capabilities: () => capabilities });

  const METHODS: Record<string, (params: Json) => unknown> = {
    initialize({ protocolVersion: version, clientCapabilities }) {
      if (!Number.isInteger(version) || Number(version) < 0) throw new Fault(-32602, 'Not a version');
      capabilities = (clientCapabilities ?? {}) as Json;
      const sessionCapabilities = { list: {}, resume: {}, close: {}, delete: {} };
      const login = { id: 'login', name: 'Log in' };
      const own = is('echoes-the-version') ? Math.max(1, Number(version)) : 1;
      return {
        protocolVersion: is('version-as-text') ? '1' : own,
        agentInfo: { name: 'broken', version: '1.0.0' },
        agentCapabilities: { loadSession: true, sessionCapabilities },
        authMethods: is('terminal-login') ? [{ ...login, type: 'terminal' }] : [login],
      };
    },
    authenticate({ methodId }) {
      if (methodId !== 'login') throw new Fault(-32602, 'Unknown method');
    },
    'session/new'({ cwd, mcpServers }) {
      const servers = mcpServers as Json[];
      const areServers = Array.isArray(servers) && servers.every((server) => typeof server.command === 'string');
      if (typeof cwd !== 'string' || !cwd.startsWith('/') || !areServers) throw new Fault(-32602, 'Bad params');
      const sessionId = is('one-session-id') ? 'session' : `session ${++made}`;
      return { sessionId, ...offered(create(sessionId, cwd)) };
    },
    'session/load'(params) {
      const session = find(params);
      const { sessionId, replay } = session;
      const show = () => {
        for (const change of replay) send({ method: 'session/update', params: { sessionId, update: change } });
      };
      if (is('replays-late')) queueMicrotask(() => queueMicrotask(() => queueMicrotask(show)));
      else show();
      return offered(session);
    },
    'session/resume'(params) {
      const session = find(params);
      if (!is('resume-replays')) return offered(session);
      return METHODS['session/load']?.(params);
    },
    'session/list'({ cwd, cursor }) {
      if (cursor !== undefined) throw new Fault(-32602, 'Unknown cursor');
      const all = [...store.values()].reverse().sort((one, two) => two.updatedAt.localeCompare(one.updatedAt));
      const listed = all.filter((session) => is('lists-all') || cwd === undefined || session.cwd === cwd);
      const sessions = listed.map(({ sessionId, cwd, updatedAt }) => ({
        sessionId,
        cwd,
        updatedAt: updatedAt || new Date(0).toISOString(),
      }));
      return { sessions: is('lists-twice') ? [...sessions, ...sessions] : sessions };
    },
    'session/close': (params) => void find(params).cancel?.('close'),
    'session/delete': ({ sessionId }) => void (is('deletes-nothing') || store.delete(String(sessionId))),
    'session/set_mode'(params) {
      choose(find(params), 'mode', params.modeId);
      return is('null-result') ? null : {};
    },
    'session/set_config_option'(params) {
      const session = find(params);
      choose(session, String(params.configId), params.value);
      return { configOptions: offered(session).configOptions };
    },
    'session/prompt'(params) {
      const blocks = params.prompt as Json[];
      const kinds = is('refuses-links') ? ['text'] : KINDS;
      const areBlocks =
        Array.isArray(blocks) && blocks.length > 0 && blocks.every(({ type }) => kinds.includes(String(type)));
      const session = find(params);
      if (!areBlocks) throw new Fault(-32602, 'Bad prompt');
      return prompt(session, blocks);
    },
  };

  async function serve(id: Id, method: string, params: unknown): Promise<void> {
    try {
      if (is('no-custom-answers') && method.startsWith('_')) return;
      if (!capabilities && method !== 'initialize' && !is('works-uninitialized'))
        throw new Fault(-32600, 'Not initialized');
      const handle = METHODS[method];
      if (!handle) throw new Fault(is('unknown-is-internal') ? -32603 : -32601, 'Method not found');
      const given = params ?? {};
      if (typeof given !== 'object' || Array.isArray(given)) throw new Fault(-32602, 'Bad params');
      const result = await handle(given as Json);
      answer(id, { result: result === undefined ? {} : result });
      late(method, given as Json, result as Json | undefined);
    } catch (error) {
      refuse(id, error instanceof Fault ? error : new Fault(-32603, 'Internal error'));
    }
  }

  function late(method: string, { sessionId }: Json, result: Json | undefined): void {
    const when = is('update-after-the-end') ? 'end_turn' : is('update-after-the-cancel') ? 'cancelled' : undefined;
    if (method !== 'session/prompt' || when === undefined || result?.stopReason !== when) return;
    send({ method: 'session/update', params: { sessionId, update: { sessionUpdate: 'plan', entries: [] } } });
  }

  return (text) => {
    let message: Json;
    try {
      message = JSON.parse(text);
    } catch {
      return refuse(null, new Fault(-32700, 'Parse error'));
    }
    if (is('answers-batches') && Array.isArray(message) && message.length > 0) {
      return write(JSON.stringify(message.map(({ id }) => ({ jsonrpc: '2.0', id, result: {} }))));
    }
    const { jsonrpc, id, method, params } = message ?? {};
    const isId = id === undefined || id === null || typeof id === 'string' || typeof id === 'number';
    const isCall = typeof method === 'string';
    if (jsonrpc !== '2.0' || !isId || (method !== undefined && !isCall))
      return refuse(null, new Fault(-32600, 'Invalid'));
    if (isCall && id !== undefined) return void serve(id, method, params);
    if (method === 'session/cancel' && is('ignores-cancels')) return;
    if (method === 'session/cancel') return store.get(String((params as Json).sessionId))?.cancel?.('cancel');
    if (isCall) return is('answers-notifications') ? refuse(null, new Fault(-32601, 'Method not found')) : undefined;
    if (!('result' in message) && !('error' in message)) return refuse(null, new Fault(-32600, 'Invalid'));
    asked.get(id)?.(message.error ? undefined : (message.result as Json));
    asked.delete(id);
  };
}

function serveStdio(defect: string): void {
  const torn = (text: string) => Buffer.from(text.replace('You said', 'You s\xe4id'), 'latin1');
  const write = (text: string) => process.stdout.write(defect === 'not-utf8' ? torn(`${text}\n`) : `${text}\n`);
  const receive = openAgent(defect, new Map(), write);
  if (defect === 'prints') process.stdout.write('Listening on stdin\n');
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') receive(line);
  });
  if (defect === 'does-not-exit') setInterval(() => undefined, 60_000);
}

if (import.meta.main) serveStdio(process.argv[2] ?? '');
