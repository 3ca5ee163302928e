/** Every method a client can call, as it is called for one Session: what the tests of who may do what go through. */
import type { Methods, Notifications } from '../../src/acp/wire.ts';
import { LOCAL, type Principal, type Scope } from '../../src/core/principal.ts';
import type { World } from '../support/world.ts';

type Name = keyof (Methods & Notifications);

export interface MethodCase {
  /** What it takes; null: nothing but the connection. */
  scope: Scope | null;
  /** The params for this Session, in every form worth trying; those of a method that names no Session ignore it. */
  params(sessionId: string, clue: Clue): Record<string, unknown>[];
}

/** What somebody who should know nothing of a Session may have picked up all the same. */
export interface Clue {
  cwd: string;
  cursor: string;
  promptKey: string;
}

const setup = ({ cwd }: Clue) => ({ cwd, mcpServers: [] });
const prompt = [{ type: 'text', text: 'hello' }];

/** Total: a method that is not here does not compile. */
export const METHOD_CASES: Record<Name, MethodCase> = {
  initialize: { scope: null, params: () => [{ protocolVersion: 1 }] },
  authenticate: { scope: null, params: () => [{ methodId: 'login' }] },
  logout: { scope: null, params: () => [{}] },
  'session/new': { scope: 'prompt', params: (_, clue) => [setup(clue)] },
  'session/load': { scope: 'observe', params: (sessionId, clue) => [{ sessionId, ...setup(clue) }] },
  'session/resume': { scope: 'observe', params: (sessionId, clue) => [{ sessionId, ...setup(clue) }] },
  'session/list': { scope: 'observe', params: (_, { cwd }) => [{}, { cwd }] },
  // Who may not stop the Turn only ends its subscription.
  'session/close': { scope: null, params: (sessionId) => [{ sessionId }] },
  'session/delete': { scope: 'prompt', params: (sessionId) => [{ sessionId }] },
  'session/fork': {
    scope: 'prompt',
    params: (sessionId, { cwd, cursor }) => [
      { sessionId, cwd },
      { sessionId, cwd, _meta: { pixir: { cursor } } },
    ],
  },
  'session/set_title': { scope: 'prompt', params: (sessionId) => [{ sessionId, title: 'Mine' }] },
  'session/prompt': {
    scope: 'prompt',
    params: (sessionId, { promptKey }) => [
      { sessionId, prompt },
      { sessionId, prompt, _meta: { pixir: { promptKey } } },
    ],
  },
  'session/cancel': { scope: 'prompt', params: (sessionId) => [{ sessionId }] },
  'session/set_mode': {
    scope: 'prompt',
    params: (sessionId) => [
      { sessionId, modeId: 'plan' },
      { sessionId, modeId: 'none' },
    ],
  },
  'session/set_config_option': {
    scope: 'prompt',
    params: (sessionId) => [
      { sessionId, configId: 'model', value: 'm2' },
      { sessionId, configId: 'permission_mode', value: 'auto' },
    ],
  },
  'session/set_model': { scope: 'prompt', params: (sessionId) => [{ sessionId, modelId: 'm2' }] },
  '_pixir/session/attach': {
    scope: 'observe',
    params: (sessionId, { cursor }) => [
      { sessionId },
      { sessionId, cursor },
      { sessionId, cursor: 'head', role: 'observer' },
    ],
  },
  '_pixir/session/detach': { scope: null, params: (sessionId) => [{ sessionId }] },
  '_pixir/session/history': {
    scope: 'observe',
    params: (sessionId, { cursor }) => [
      { sessionId, limit: 100 },
      { sessionId, limit: 100, before: cursor },
    ],
  },
  '_pixir/session/permissions': { scope: 'observe', params: (sessionId) => [{ sessionId }] },
  '_pixir/session/permissions/revoke': { scope: 'approve', params: (sessionId) => [{ sessionId, ruleId: 'rule_1' }] },
  '_pixir/session/info': { scope: 'observe', params: (sessionId) => [{ sessionId }] },
  '_pixir/session/files': { scope: 'prompt', params: (sessionId) => [{ sessionId, query: 'a', limit: 10 }] },
  '_pixir/session/log': {
    scope: 'observe',
    params: (sessionId) => [
      { sessionId, limit: 100 },
      { sessionId, limit: 1, before: 2, full: true },
    ],
  },
  '_pixir/session/verify': { scope: 'observe', params: (sessionId) => [{ sessionId }] },
  '_pixir/sessions/watch': { scope: 'observe', params: () => [{}] },
  '_pixir/sessions/unwatch': { scope: null, params: () => [{}] },
  '_pixir/directories': { scope: 'prompt', params: (_, { cwd }) => [{}, { path: cwd }] },
};

/** Somebody else, who may do everything with what is theirs. */
export const MALLORY: Principal = { ...LOCAL, name: 'mallory', owner: 'mallory' };

/** A connection that keeps every byte it is sent, in the order in which it came. */
export function tapped(w: World, principal: Principal) {
  const frames: string[] = [];
  const transport = { send: (text: string) => void frames.push(text), close() {}, bufferedAmount: 0, onDrain() {} };
  const receiver = w.openPeer(transport, principal);
  return {
    frames,
    /** Sends one message and returns what came by the time it was answered. */
    async say(message: Record<string, unknown>): Promise<string[]> {
      const before = frames.length;
      receiver.receive(JSON.stringify({ jsonrpc: '2.0', ...message }));
      await receiver.idle();
      // A notification is not answered, but it has had its effect by then.
      for (let turns = 0; turns < 8; turns++) await new Promise(setImmediate);
      return frames.slice(before);
    },
    close: () => receiver.closed(),
  };
}
