/** Two people on one server: what is one's is to the other as if it did not exist. */
import assert from 'node:assert/strict';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { METHODS } from '../../src/acp/methods/index.ts';
import { answer, attach, awaitTurn, configure, interrupt, resume, send } from '../../src/core/conversation.ts';
import { CoreError } from '../../src/core/errors.ts';
import { findFiles } from '../../src/core/files.ts';
import { fork, remove, setTitle } from '../../src/core/lifecycle.ts';
import { LOCAL, type Principal } from '../../src/core/principal.ts';
import { listRules, revokeRule } from '../../src/core/rules.ts';
import { newSessionId } from '../../src/core/session-id.ts';
import { inspect } from '../../src/core/session-list.ts';
import { readBack, verifySession } from '../../src/core/timeline.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { memoryLog } from '../../src/store/memory-log.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { RpcError, type WireClient } from '../support/wire-client.ts';
import { type World, world } from '../support/world.ts';
import { MALLORY, METHOD_CASES, tapped } from './calls.ts';

const SECRET = 'canary-of-the-owner';
const withCursors = { protocolVersion: 1, clientCapabilities: { _meta: { pixir: { cursor: 1 } } } };
/** What is not there is closed and deleted already. */
const GONE = ['session/close', 'session/delete'];
const settings = { permissionCeiling: 'ask' as const };
const script = [
  [...say(SECRET), finish()],
  [call('c1', 'poke', { text: SECRET }), finish()],
  [...say('Done.'), finish()],
];

/** A Session of the owner's with a finished keyed prompt, a running Turn and a permission that waits. */
async function ownSession(w: World) {
  const owner = await w.client();
  const sessionId = await owner.newSession(w.dir);
  await owner.prompt(sessionId, 'hello', { pixir: { promptKey: 'k1' } });
  const asked = Promise.withResolvers<(decision: string) => void>();
  owner.onPermission = (_params, id) => {
    asked.resolve((optionId) =>
      owner.raw({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId } } }),
    );
  };
  const prompted = owner.prompt(sessionId, SECRET);
  const decide = await asked.promise;
  const second = await w.client();
  const { head: cursor } = await second.request('_pixir/session/attach', { sessionId, role: 'observer' });
  second.close();
  return { owner, sessionId, decide, prompted, clue: { cwd: w.dir, cursor: String(cursor), promptKey: 'k1' } };
}

async function intruder(w: World, principal: Principal = MALLORY) {
  const connection = tapped(w, principal);
  await connection.say({ id: 0, method: 'initialize', params: withCursors });
  connection.frames.length = 0;
  return connection;
}

test('[OWN1] every method: a foreign Session is answered byte for byte like an unknown one, and nothing of it leaks', async () => {
  assert.deepEqual(Object.keys(METHOD_CASES).sort(), [...METHODS.keys()].sort(), 'every method is tried');
  await using w = await world({ script, settings });
  const { sessionId, decide, prompted, clue } = await ownSession(w);
  const unknown = newSessionId(w.clock.now());
  const before = await w.events(sessionId);
  const connections = [];
  let tried = 0;
  for (const [method, { params }] of Object.entries(METHOD_CASES)) {
    const kind = METHODS.get(method)?.kind;
    for (const [index, toForeign] of params(sessionId, clue).entries()) {
      if (!('sessionId' in toForeign)) continue;
      const toUnknown = params(unknown, clue)[index];
      const [foreign, other] = [await intruder(w), await intruder(w)];
      connections.push(foreign, other);
      const id = kind === 'request' ? { id: 1 } : {};
      const answers = await foreign.say({ ...id, method, params: toForeign });
      const expected = await other.say({ ...id, method, params: toUnknown });
      assert.deepEqual(
        answers.map((frame) => frame.replaceAll(sessionId, '#')),
        expected.map((frame) => frame.replaceAll(unknown, '#')),
        method,
      );
      assert.equal(answers.length, kind === 'request' ? 1 : 0, method);
      if (kind === 'request')
        assert.match(answers[0] ?? '', GONE.includes(method) ? /"result":\{\}/ : /"error"/, method);
      tried++;
    }
  }
  assert.ok(tried >= 14);
  assert.deepEqual(await w.events(sessionId), before, 'nothing was changed');
  decide('allow');
  assert.equal((await prompted).stopReason, 'end_turn');
  for (const { frames, close } of connections) {
    assert.ok(frames.length <= 1 && !frames.join().includes(SECRET), 'nothing came later either');
    close();
  }
});

test('[OWN1] every function of Conversation that names a Session: foreign and unknown are one error, after the same work', async () => {
  const clock = fakeClock();
  const inner = memoryLog(clock);
  let asked: string[] = [];
  const log = new Proxy(inner, {
    get(target, name) {
      asked.push(String(name));
      return Reflect.get(target, name);
    },
  });
  await using w = await world({ script, settings, log });
  const { sessionId, decide, prompted } = await ownSession(w);
  const prompt = { turnId: 't', messageId: 'm', content: [{ type: 'text' as const, text: 'hello' }], promptKey: 'k1' };
  const [permission] = (await resume(w.runtime, LOCAL, sessionId)).state.permissions.keys();
  const { signal } = new AbortController();
  const functions: Record<string, (id: string) => Promise<unknown>> = {
    resume: (id) => resume(w.runtime, MALLORY, id),
    attach: (id) => attach(w.runtime, MALLORY, id, () => undefined),
    send: (id) => send(w.runtime, MALLORY, { sessionId: id, ...prompt }),
    interrupt: (id) => interrupt(w.runtime, MALLORY, id),
    answer: (id) => answer(w.runtime, MALLORY, id, { permissionId: permission ?? '', decision: 'allow' }),
    listRules: (id) => listRules(w.runtime, MALLORY, id),
    inspect: (id) => inspect(w.runtime, MALLORY, id),
    findFiles: (id) => findFiles(w.runtime, MALLORY, { sessionId: id, query: '', limit: 1 }, signal),
    readBack: (id) => readBack(w.runtime, MALLORY, id, { limit: 1 }),
    verifySession: (id) => verifySession(w.runtime, MALLORY, id, signal),
    revokeRule: (id) => revokeRule(w.runtime, MALLORY, id, 'rule_1'),
    configure: (id) => configure(w.runtime, MALLORY, id, { mode: 'plan' }),
    awaitTurn: (id) => awaitTurn(w.runtime, MALLORY, id),
    setTitle: (id) => setTitle(w.runtime, MALLORY, id, 'Mine'),
    fork: (id) => fork(w.runtime, MALLORY, { sessionId: id, workspace: w.dir }),
    // It says nothing of either; so that it can be compared, that is an error here.
    remove: async (id) => {
      await remove(w.runtime, MALLORY, id);
      throw new CoreError('unknown_session', 'unknown session', { sessionId: id });
    },
  };
  const outcome = async (run: (id: string) => Promise<unknown>, id: string) => {
    asked = [];
    const { code, message, details } = await run(id).then(
      () => assert.fail('it was let in'),
      (error) => error,
    );
    return { code, message, details: JSON.stringify(details).replace(id, '#'), asked };
  };
  for (const [name, run] of Object.entries(functions)) {
    const foreign = await outcome(run, sessionId);
    assert.deepEqual(foreign, await outcome(run, newSessionId(clock.now())), name);
    assert.deepEqual([foreign.code, foreign.asked], ['unknown_session', ['session']], name);
  }
  decide('allow');
  await prompted;
});

test('[OWN2] nobody but the owner answers a permission, whatever ids they guess', async () => {
  await using w = await world({ script, settings });
  const { owner, sessionId, decide, prompted } = await ownSession(w);
  const guesser = await intruder(w);
  const result = { outcome: { outcome: 'selected', optionId: 'allow' } };
  for (let id = -5; id <= 5; id++) await guesser.say({ id, result });
  assert.deepEqual(guesser.frames, []);
  assert.ok(!(await w.types(sessionId)).includes('permission_decision'));
  decide('reject');
  await prompted;
  guesser.close();
  owner.assertSound();
});

test('[OWN3] a list of directories: Sessions elsewhere are unknown, new ones are refused, whatever lies there', async () => {
  await using w = await world({ script: [] });
  for (const name of ['mine', 'mine-too', 'theirs']) await mkdir(join(w.dir, name));
  const mine = await realpath(join(w.dir, 'mine'));
  const limited: Principal = { ...LOCAL, name: 'phone', workspaces: [mine] };
  const all = await w.client();
  const client = await w.client(limited);
  const inside = await all.newSession(mine);
  for (const name of ['mine-too', 'theirs', '.']) {
    const cwd = join(w.dir, name);
    const outside = await all.newSession(cwd);
    for (const method of ['session/load', 'session/resume', '_pixir/session/attach']) {
      await refused(client, method, { sessionId: outside, cwd, mcpServers: [] }, -32002);
    }
  }
  const messages = new Set<string>();
  for (const name of ['theirs', 'nothing-there', 'mine-too', 'mine/../theirs', '.']) {
    messages.add(await refused(client, 'session/new', { cwd: `${w.dir}/${name}`, mcpServers: [] }, -32602));
    messages.add(
      await refused(client, 'session/load', { sessionId: inside, cwd: `${w.dir}/${name}`, mcpServers: [] }, -32602),
    );
  }
  assert.deepEqual([...messages], ['cwd is outside the directories that the credential allows']);
  await client.newSession(mine);
  await client.request('session/load', { sessionId: inside, cwd: mine, mcpServers: [] });
});

async function refused(client: WireClient, method: string, params: unknown, code: number): Promise<string> {
  const error = await client.request(method, params).then(
    () => assert.fail(`${method} was let in`),
    (thrown) => thrown,
  );
  assert.ok(error instanceof RpcError);
  assert.equal(error.code, code, error.message);
  return error.message;
}

test('[OWN4] the Log says who prompted, configured and decided, by name', async () => {
  await using w = await world({ script: script.slice(1), settings });
  const [laptop, phone] = ['laptop', 'phone'].map((name): Principal => ({ ...LOCAL, name }));
  const [one, two] = [await w.client(laptop), await w.client(phone)];
  const sessionId = await one.newSession(w.dir);
  await two.request('session/resume', { sessionId, cwd: w.dir });
  await two.request('session/set_mode', { sessionId, modeId: 'build' });
  two.onPermission = () => ({ outcome: { outcome: 'selected', optionId: 'allow' } });
  await one.prompt(sessionId, 'go', { by: 'root', pixir: { by: 'root' } });
  const events = await w.events(sessionId);
  const by = (type: string) =>
    events.filter((event) => event.type === type).map(({ data }) => (data as { by: string }).by);
  assert.deepEqual(
    [by('session_configured'), by('user_message'), by('permission_decision')],
    [['phone'], ['laptop'], ['phone']],
  );
  const [created] = events;
  assert.equal(created?.type === 'session_created' && created.data.owner, 'local');
});
