/** A credential does what its scopes say and nothing more, whatever its bearer says of itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { METHODS } from '../../src/acp/methods/index.ts';
import { answer, attach, awaitTurn, configure, interrupt, resume, send } from '../../src/core/conversation.ts';
import { listDirectories } from '../../src/core/directories.ts';
import { CoreError } from '../../src/core/errors.ts';
import { findFiles } from '../../src/core/files.ts';
import { fork, list, remove, setTitle, start } from '../../src/core/lifecycle.ts';
import { LOCAL, type Principal, type Scope } from '../../src/core/principal.ts';
import { listRules, revokeRule } from '../../src/core/rules.ts';
import { inspect, onChange } from '../../src/core/session-list.ts';
import { readBack, verifySession } from '../../src/core/timeline.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { RpcError } from '../support/wire-client.ts';
import { type World, world } from '../support/world.ts';
import { METHOD_CASES, tapped } from './calls.ts';

const settings = { permissionCeiling: 'ask' as const };
const script = [
  [call('c1', 'poke', { text: 'x' }), finish()],
  [...say('Done.'), finish()],
];

/** Which scopes let a thing be done: who may act may also see what comes of it. */
const ENOUGH: Record<Scope, readonly Scope[]> = {
  observe: ['observe', 'prompt', 'approve'],
  prompt: ['prompt'],
  approve: ['approve'],
  admin: ['admin'],
};
const GRANTS: readonly Scope[][] = [
  [],
  ['observe'],
  ['prompt'],
  ['approve'],
  ['admin'],
  ['observe', 'approve', 'admin'],
];
const holder = (scopes: readonly Scope[]): Principal => ({ ...LOCAL, name: 'device', scopes });
const suffices = (scopes: readonly Scope[], needed: Scope) => scopes.some((scope) => ENOUGH[needed].includes(scope));
const settled = () => new Promise(setImmediate);

/** A Session of the same owner's, with a Turn that waits for a permission. */
async function waitingSession(w: World) {
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  const turn = client.prompt(sessionId, 'go');
  turn.catch(() => undefined);
  const asked = await client.frame(({ method }) => method === 'session/request_permission');
  const meta = asked.params?._meta as { pixir: { permissionId: string } } | undefined;
  return { client, sessionId, turn, permissionId: meta?.pixir.permissionId ?? '' };
}

for (const scopes of GRANTS) {
  test(`[SCOPE1] every method with the scopes "${scopes}": let in or forbidden, and then nothing has happened`, async () => {
    assert.deepEqual(Object.keys(METHOD_CASES).sort(), [...METHODS.keys()].sort(), 'every method is tried');
    for (const [method, { scope, params }] of Object.entries(METHOD_CASES)) {
      await using w = await world({ script, settings });
      const { sessionId } = await waitingSession(w);
      const rows = async () => [await w.events(sessionId), (await w.log.sessions({})).length];
      const before = await rows();
      const clue = { cwd: w.dir, cursor: 'head', promptKey: 'k' };
      const connection = tapped(w, holder(scopes));
      if (method !== 'initialize')
        await connection.say({ id: 0, method: 'initialize', params: { protocolVersion: 1 } });
      const id = METHODS.get(method)?.kind === 'request' ? { id: 1 } : {};
      const allowed = scope === null || suffices(scopes, scope);
      for (const each of params(sessionId, clue)) {
        const frames = await connection.say({ ...id, method, params: each });
        const said = frames.map((frame) => JSON.parse(frame)).filter((frame) => frame.id === 1);
        const forbidden = said.some(({ error }) => error?.code === -32600 && error.data?.reason === 'forbidden');
        if (id.id) assert.equal(forbidden, !allowed, `${method}: ${frames[0]}`);
        if (forbidden) assert.deepEqual([frames.length, said[0].error.data.scope], [1, scope], method);
      }
      if (!allowed) assert.deepEqual(await rows(), before, method);
      else if (method === 'session/cancel') assert.notDeepEqual(await rows(), before, 'cancelled');
      connection.close();
    }
  });
}

test('[SCOPE1] every function of Conversation asks for its scope before it looks for the Session', async () => {
  await using w = await world({ script, settings });
  const { sessionId, turn, permissionId } = await waitingSession(w);
  const prompt = { turnId: 't', messageId: 'm', content: [{ type: 'text' as const, text: 'x' }] };
  const { signal } = new AbortController();
  const functions: Record<string, [Scope, (who: Principal, id: string) => Promise<unknown>]> = {
    start: ['prompt', (who) => start(w.runtime, who, { workspace: w.dir })],
    resume: ['observe', (who, id) => resume(w.runtime, who, id)],
    attach: ['observe', async (who, id) => (await attach(w.runtime, who, id, () => undefined)).stop()],
    configure: ['prompt', (who, id) => configure(w.runtime, who, id, { mode: 'build' })],
    send: ['prompt', (who, id) => send(w.runtime, who, { sessionId: id, ...prompt })],
    answer: ['approve', (who, id) => answer(w.runtime, who, id, { permissionId, decision: 'allow' })],
    listRules: ['observe', (who, id) => listRules(w.runtime, who, id)],
    revokeRule: ['approve', (who, id) => revokeRule(w.runtime, who, id, 'rule_1')],
    interrupt: ['prompt', (who, id) => interrupt(w.runtime, who, id)],
    awaitTurn: ['observe', (who, id) => awaitTurn(w.runtime, who, id)],
    list: ['observe', (who) => list(w.runtime, who, { limit: 1 })],
    onChange: ['observe', async (who) => onChange(w.runtime, who, () => undefined)()],
    inspect: ['observe', (who, id) => inspect(w.runtime, who, id)],
    listDirectories: ['prompt', (who) => listDirectories(w.runtime, who, undefined, signal)],
    findFiles: ['prompt', (who, id) => findFiles(w.runtime, who, { sessionId: id, query: '', limit: 1 }, signal)],
    readBack: ['observe', (who, id) => readBack(w.runtime, who, id, { limit: 1 })],
    verifySession: ['observe', (who, id) => verifySession(w.runtime, who, id, signal)],
    setTitle: ['prompt', (who, id) => setTitle(w.runtime, who, id, 'Mine')],
    fork: ['prompt', (who, id) => fork(w.runtime, who, { sessionId: id, workspace: w.dir })],
    remove: ['prompt', (who, id) => remove(w.runtime, who, id)],
  };
  const codeOf = (error: unknown) => (error instanceof CoreError ? error.code : String(error));
  for (const [name, [scope, run]] of Object.entries(functions)) {
    for (const scopes of GRANTS) {
      if (suffices(scopes, scope)) continue;
      for (const id of [sessionId, 'nobody']) {
        assert.equal(await run(holder(scopes), id).catch(codeOf), 'forbidden', `${name} with ${scopes}`);
      }
    }
    const outcome = await run(holder([scope]), sessionId).catch(codeOf);
    assert.notEqual(outcome, 'forbidden', name);
  }
  await turn;
});

test('[SCOPE2] a credential that can only watch is an observer, whatever role it asks for', async () => {
  await using w = await world({ script, settings });
  const { sessionId, client, turn } = await waitingSession(w);
  const roles: unknown[] = [];
  for (const scopes of [['observe'], ['observe', 'admin'], ['prompt'], ['approve']] as Scope[][]) {
    const watcher = await w.client(holder(scopes));
    for (const role of ['controller', 'observer'])
      roles.push((await watcher.request('_pixir/session/attach', { sessionId, role })).role);
  }
  const observer = ['observer', 'observer'];
  assert.deepEqual(roles, [...observer, ...observer, 'controller', 'observer', 'controller', 'observer']);
  client.notify('session/cancel', { sessionId });
  await turn;
});

test('[SCOPE2] only who may approve is asked; who may prompt sees that it is decided', async () => {
  await using w = await world({ script, settings });
  const watching = [await w.client(holder(['observe'])), await w.client(holder(['prompt']))];
  const approver = await w.client(holder(['approve']));
  const { sessionId, turn } = await waitingSession(w);
  for (const client of [...watching, approver]) await client.request('session/resume', { sessionId, cwd: w.dir });
  const { id } = await approver.frame(({ method }) => method === 'session/request_permission');
  approver.raw({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'allow' } } });
  assert.equal((await turn).stopReason, 'end_turn');
  for (const client of watching) {
    assert.ok(client.frames.every(({ method }) => method !== 'session/request_permission'));
    await client.update(({ status }) => status === 'completed');
  }
  const decided = (await w.events(sessionId)).find(({ type }) => type === 'permission_decision');
  assert.deepEqual(decided?.type === 'permission_decision' && [decided.data.by, decided.data.decision], [
    'device',
    'allow',
  ]);
});

test('[SCOPE3] what a client says of itself grants nothing', async () => {
  await using w = await world({ script, settings });
  const { sessionId, turn, client } = await waitingSession(w);
  const claims = {
    scopes: ['admin', 'prompt', 'approve'],
    scope: 'admin',
    role: 'admin',
    principal: LOCAL,
    owner: 'local',
  };
  const _meta = { ...claims, pixir: { ...claims, cursor: 1 } };
  const { client: liar } = w.connect(holder(['observe']));
  const clientInfo = { name: 'local', version: 'admin', ...claims };
  const initialize = { protocolVersion: 1, clientInfo, clientCapabilities: { ...claims, _meta }, _meta, ...claims };
  await liar.request('initialize', initialize);
  const attached = await liar.request('_pixir/session/attach', { sessionId, _meta, ...claims, role: 'controller' });
  assert.equal(attached.role, 'observer');
  const prompt = [{ type: 'text', text: 'x' }];
  const tries: [string, Record<string, unknown>][] = [
    ['session/prompt', { sessionId, prompt }],
    ['session/new', { cwd: w.dir, mcpServers: [] }],
    ['session/set_mode', { sessionId, modeId: 'plan' }],
  ];
  for (const [method, params] of tries) {
    await assert.rejects(
      liar.request(method, { ...params, _meta, ...claims }),
      (error) => error instanceof RpcError && error.code === -32600 && error.data?.reason === 'forbidden',
    );
  }
  liar.notify('session/cancel', { sessionId, _meta, ...claims });
  liar.raw({ jsonrpc: '2.0', id: -1, result: { outcome: { outcome: 'selected', optionId: 'allow' }, _meta } });
  await settled();
  assert.deepEqual((await w.types(sessionId)).at(-1), 'permission_requested', 'the Turn still waits');
  client.notify('session/cancel', { sessionId });
  await turn;
});

test('[SCOPE4] to loosen the permission mode takes the scope to approve; to tighten it does not', async () => {
  await using w = await world({ settings: { permissionCeiling: 'auto' } });
  const { id } = await start(w.runtime, LOCAL, { workspace: w.dir });
  const prompter = holder(['prompt']);
  const set = (who: Principal, permissionMode: 'auto' | 'ask' | 'read_only') =>
    configure(w.runtime, who, id, { permissionMode }).then(
      ({ state }) => state.permissionMode,
      ({ code }) => code,
    );
  assert.deepEqual([await set(prompter, 'ask'), await set(prompter, 'ask')], ['ask', 'ask']);
  assert.deepEqual([await set(prompter, 'auto'), await set(prompter, 'read_only')], ['forbidden', 'read_only']);
  assert.equal(await set(prompter, 'ask'), 'forbidden');
  assert.equal(await set(holder(['prompt', 'approve']), 'auto'), 'auto');
});
