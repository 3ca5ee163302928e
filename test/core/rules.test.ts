/** Rules in the runtime alone: what they cover, how long they live, and that nothing slips past them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { auditor } from '../../src/cli/audit.ts';
import { attach, interrupt } from '../../src/core/conversation.ts';
import { CoreError } from '../../src/core/errors.ts';
import type { Event, Json } from '../../src/core/event.ts';
import { fork, start } from '../../src/core/lifecycle.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { mayBeOffered, ruleOffer, ruleText } from '../../src/core/rule.ts';
import { listRules, revokeRule } from '../../src/core/rules.ts';
import { applyToState, initialState } from '../../src/core/session-state.ts';
import type { Tool } from '../../src/core/tool.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { memoryLog } from '../../src/store/memory-log.ts';
import { created, eventOf } from '../support/events.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { sendText } from '../support/send.ts';
import { poke } from '../support/tools.ts';
import { type World, world } from '../support/world.ts';
import { named, open, SERVER, stdio } from '../tools/mcp-support.ts';
import { toolNamed } from '../tools/support.ts';

const ask = { permissionCeiling: 'ask' as const };
const pokeWith = (text: string) => [
  [call('c', 'poke', { text }), finish()],
  [...say('Done.'), finish()],
];
const answered = (optionId: string) => () => ({ outcome: { outcome: 'selected', optionId } });
const offerOf = (tool: Tool, args: Record<string, Json>) => ruleOffer(tool, args, tool.schema.parse(args));
const begin = async (w: World) => (await start(w.runtime, LOCAL, { workspace: w.dir })).id;
const poked = (w: World) => readFile(join(w.dir, 'poked'), 'utf8').catch(() => '');
const find = <T extends Event['type']>(events: readonly Event[], type: T) =>
  events.filter((event) => event.type === type) as Event<T>[];

/** A Session in which somebody has allowed `poke x` for good. */
async function withRule(w: World) {
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  client.onPermission = answered('always');
  await client.prompt(sessionId, 'go');
  client.onPermission = answered('reject');
  const [rule] = await listRules(w.runtime, LOCAL, sessionId);
  return { client, sessionId, ruleId: rule?.ruleId ?? '' };
}

test('[PERM13] a rule covers a file, a command, or exact arguments, and says so', () => {
  const [write, edit, bash, patch] = ['write', 'edit', 'bash', 'apply_patch'].map(toolNamed);
  assert.ok(write && edit && bash && patch);
  const texts = [
    offerOf(write, { path: 'src/a.ts', content: 'x' }),
    offerOf(edit, { path: 'a"b', old_string: 'a', new_string: 'b' }),
    offerOf(bash, { command: 'a\nb', timeout_ms: 5 }),
    offerOf(bash, { command: 'a\\nb' }),
    offerOf(patch, { patch: 'p' }),
    offerOf(poke, { text: 'ä\u202e' }),
  ].map((offer) => offer?.text);
  assert.deepEqual(texts, [
    '"write" on "src/a.ts"',
    '"edit" on "a\\"b"',
    '"bash" with "a\\nb"',
    '"bash" with "a\\\\nb"',
    '"apply_patch" with {"patch":"p"}',
    '"poke" with {"text":"ä\\u202e"}',
  ]);
  const room = 200 - ruleText('deny', '"bash" with ""').length;
  assert.equal(ruleText('deny', offerOf(bash, { command: 'a'.repeat(room) })?.text ?? '').length, 200);
  assert.equal(offerOf(bash, { command: 'a'.repeat(room + 1) }), undefined);
});

test('[PERM13] a Session has at most 500 rules in force, and none is made of what one must be careful with', () => {
  const state = initialState(eventOf(...(created as ['session_created', never])));
  const data = { decision: 'allow' as const, tool: 'poke', keyHash: 'h', text: 't', by: 'local' };
  for (let n = 0; n < 500; n++) {
    assert.ok(mayBeOffered(state, {}), String(n));
    applyToState(state, eventOf('permission_rule', { ruleId: `rule_${n}`, ...data }));
  }
  assert.ok(!mayBeOffered(state, {}));
  applyToState(state, eventOf('permission_rule_revoked', { ruleId: 'rule_7', by: 'local' }));
  assert.ok(mayBeOffered(state, {}));
  for (const text of ['\u200b', ' '.repeat(80), 'a'.repeat(2_048)]) assert.ok(!mayBeOffered(state, { text }));
});

test('[PERM15] two calls have one key only if they are the same to the letter', () => {
  const hashOf = (tool: string, args: Record<string, Json>) => offerOf(toolNamed(tool), args)?.keyHash;
  assert.equal(hashOf('write', { path: 'a', content: '1' }), hashOf('write', { path: 'a', content: '2' }));
  assert.equal(hashOf('bash', { command: 'ls' }), hashOf('bash', { command: 'ls', timeout_ms: 1 }));
  assert.notEqual(hashOf('write', { path: 'a', content: '' }), hashOf('write', { path: './a', content: '' }));
  assert.notEqual(hashOf('bash', { command: 'ls' }), hashOf('bash', { command: 'ls ' }));
  const loose = { ...poke, rule: (args: Record<string, unknown>) => ({ key: args.key as Json, text: '' }) };
  const keyHash = (key: Json) => ruleOffer(loose, {}, { key })?.keyHash;
  const json = fc.jsonValue({ depthSize: 'small' }) as fc.Arbitrary<Json>;
  const normal = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(normal);
    if (value === null || typeof value !== 'object') return value;
    return {
      members: Object.entries(value)
        .map(([name, member]) => [name, normal(member)])
        .sort(),
    };
  };
  fc.assert(
    fc.property(json, json, (a, b) => {
      const same = JSON.stringify(normal(a)) === JSON.stringify(normal(b));
      assert.equal(keyHash(a) === keyHash(b), same);
    }),
  );
  const proto = (value: number) => JSON.parse(`{"__proto__":${value}}`) as Json;
  assert.notEqual(keyHash(proto(1)), keyHash(proto(2)));
  assert.equal(keyHash({ a: 1, b: [{ c: 2, d: 3 }] }), keyHash({ b: [{ d: 3, c: 2 }], a: 1 }));
});

test('[PERM15] a rule on a tool of an MCP server is none on that of another server under its name', async () => {
  const hashOf = async (env: Record<string, string>, ...args: string[]) => {
    await using opened = await open([stdio('a', env, [SERVER, ...args])]);
    const offer = offerOf(named(await opened.set.tools(), 'echo'), { text: 'x' });
    assert.equal(offer?.text, '"mcp__a__echo" with {"text":"x"}');
    return offer?.keyHash;
  };
  const keyHash = await hashOf({});
  assert.equal(await hashOf({ API_TOKEN: 'new' }), keyHash);
  assert.notEqual(await hashOf({}, 'other'), keyHash);
});

test('[PERM16] a restart keeps the rules, a fork does not inherit them', async () => {
  await using w = await world({ script: pokeWith('x'), settings: ask });
  const { sessionId } = await withRule(w);
  const rules = await listRules(w.runtime, LOCAL, sessionId);
  await using next = await w.restart({ script: [...pokeWith('x'), ...pokeWith('x')] });
  assert.deepEqual(await listRules(next.runtime, LOCAL, sessionId), rules);
  const client = await next.client();
  await client.prompt(sessionId, 'again');
  assert.equal(await poked(w), 'xx');
  const { id } = await fork(next.runtime, LOCAL, { sessionId, workspace: w.dir });
  assert.deepEqual(await listRules(next.runtime, LOCAL, id), []);
  client.onPermission = answered('reject');
  await client.prompt(id, 'and here?');
  assert.equal(find(await next.events(id), 'permission_requested').length, 2);
  assert.equal(await poked(w), 'xx');
  assert.deepEqual(await listRules(next.runtime, LOCAL, sessionId), rules, 'the source has its own still');
});

test('[PERM16] a question that was put before a crash still makes the rule that it offered', async () => {
  await using w = await world({ script: pokeWith('x'), settings: { ...ask, recovery: 'resume' } });
  const id = await begin(w);
  const asked = Promise.withResolvers<void>();
  const { session, stop } = await attach(w.runtime, LOCAL, id, () => {
    if (session.state.permissions.size > 0) asked.resolve();
  });
  await sendText(w, id, 'go');
  await asked.promise;
  stop();
  await using next = await w.restart({ script: [[...say('Done.'), finish()], ...pokeWith('x')] });
  const client = await next.client();
  client.onPermission = answered('always');
  await client.request('session/load', { sessionId: id, cwd: w.dir, mcpServers: [] });
  await client.update(({ status }) => status === 'completed');
  while ((await next.types(id)).at(-1) !== 'turn_finished') await new Promise(setImmediate);
  client.onPermission = () => assert.fail('it was asked again');
  await client.prompt(id, 'again');
  assert.equal(await poked(w), 'xx');
});

test('[PERM17] a rule that is being revoked decides nothing any more; where that fails, it goes on', async () => {
  const inner = memoryLog(fakeClock());
  let held: PromiseWithResolvers<void> | undefined;
  const append: typeof inner.append = async (drafts) => {
    if (drafts[0]?.type === 'permission_rule_revoked') await held?.promise;
    return inner.append(drafts);
  };
  await using w = await world({
    script: [...pokeWith('x'), ...pokeWith('x'), ...pokeWith('x')],
    settings: ask,
    log: { ...inner, append },
  });
  const { client, sessionId, ruleId } = await withRule(w);
  held = Promise.withResolvers();
  const asked = client.next(({ method }) => method === 'session/request_permission');
  const revoked = [1, 2].map(() => revokeRule(w.runtime, LOCAL, sessionId, ruleId));
  const prompt = client.prompt(sessionId, 'again');
  await asked;
  held.resolve();
  await Promise.all([...revoked, prompt]);
  assert.equal(find(await w.events(sessionId), 'permission_rule_revoked').length, 1);
  assert.equal(await poked(w), 'x');
});

test('[PERM17] a revocation that the disk refuses leaves the rule in force', async () => {
  const inner = memoryLog(fakeClock());
  const append: typeof inner.append = async (drafts) => {
    if (drafts[0]?.type === 'permission_rule_revoked') throw new CoreError('log_write_failed', 'no room');
    return inner.append(drafts);
  };
  await using w = await world({
    script: [...pokeWith('x'), ...pokeWith('x')],
    settings: ask,
    log: { ...inner, append },
  });
  const { client, sessionId, ruleId } = await withRule(w);
  await assert.rejects(revokeRule(w.runtime, LOCAL, sessionId, ruleId), { code: 'log_write_failed' });
  await client.prompt(sessionId, 'again');
  assert.equal(await poked(w), 'xx');
});

const anyAct = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom('x', 'x ', 'y'), fc.constantFrom('allow', 'always', 'reject', 'never')),
  },
  { weight: 1, arbitrary: fc.constantFrom('revoke' as const, 'restart' as const) },
);

test('[PERM15] whatever is asked, answered and revoked: no call runs without a decision of its own or a rule made for exactly it', async () => {
  const property = async (acts: readonly (readonly [string, string] | 'revoke' | 'restart')[]) => {
    const script = acts.flatMap((act) => (typeof act === 'string' ? [] : pokeWith(act[0])));
    await using first = await world({ script, settings: ask });
    await using later = new AsyncDisposableStack();
    let w = first;
    const id = await begin(w);
    /** What a person who remembers everything expects to be decided without being asked. */
    const standing = new Map<string, string>();
    let expected = '';
    let left = script;
    for (const act of acts) {
      if (act === 'restart') {
        w = later.use(await w.restart({ script: left }));
      } else if (act === 'revoke') {
        const [oldest] = await listRules(w.runtime, LOCAL, id);
        if (!oldest) continue;
        await revokeRule(w.runtime, LOCAL, id, oldest.ruleId);
        for (const text of standing.keys()) if (oldest.text.includes(JSON.stringify(text))) standing.delete(text);
      } else {
        const [text, option] = act;
        const known = standing.get(text);
        const client = await w.client();
        client.onPermission = () => {
          assert.equal(known, undefined, 'it was decided for good');
          return answered(option)();
        };
        const before = find(await w.events(id), 'permission_requested').length;
        await client.prompt(id, 'go');
        client.close();
        left = left.slice(2);
        const asked = find(await w.events(id), 'permission_requested').length - before;
        assert.equal(asked, known === undefined ? 1 : 0);
        if (option === 'always' || option === 'never') standing.set(text, known ?? option);
        if (['allow', 'always'].includes(known ?? option)) expected += text;
      }
    }
    assert.equal(await poked(first), expected);
    assertDecided(await w.events(id));
  };
  await fc.assert(fc.asyncProperty(fc.array(anyAct, { maxLength: 8 }), property), { numRuns: 40 });
});

/** By the Log alone: each call has one decision, of somebody who was asked or of a rule that was in force for it. */
function assertDecided(events: readonly Event[]): void {
  const made = find(events, 'permission_rule');
  for (const { data, seq } of find(events, 'tool_call')) {
    const decisions = find(events, 'permission_decision').filter(({ data: { callId } }) => callId === data.callId);
    assert.equal(decisions.length, 1);
    const ruleId = decisions[0]?.data.by.match(/^rule:(.*)/)?.[1];
    const rule = made.find((one) => one.data.ruleId === ruleId);
    assert.equal(rule === undefined, decisions[0]?.data.permissionId !== undefined);
    if (!rule) continue;
    const revoked = find(events, 'permission_rule_revoked').find((one) => one.data.ruleId === ruleId);
    assert.ok(rule.seq < seq && (revoked?.seq ?? Number.POSITIVE_INFINITY) > seq, 'the rule was in force');
    const offer = ruleOffer(poke, data.args, poke.schema.parse(data.args));
    assert.deepEqual([rule.data.tool, rule.data.keyHash], [data.name, offer?.keyHash]);
  }
}

test('[CLI10] [OWN4] the audit shows rules made, used and revoked, and who cancelled', async () => {
  await using w = await world({ script: [...pokeWith('x'), ...pokeWith('x'), [{ type: 'hang' }]], settings: ask });
  const { client, sessionId, ruleId } = await withRule(w);
  await client.prompt(sessionId, 'again');
  const phone = { ...LOCAL, name: 'phone' };
  await revokeRule(w.runtime, phone, sessionId, ruleId);
  const { turnId } = await sendText(w, sessionId, 'hang');
  await interrupt(w.runtime, phone, sessionId);
  const lines = (await w.events(sessionId)).map(auditor()).join('');
  const deeds = lines
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t').slice(2).join(' '))
    .filter((deed) => !/^local (create|prompt) /.test(deed));
  assert.deepEqual(deeds, [
    'local allow poke x',
    `local rule ${ruleId} Always allow "poke" with {"text":"x"}`,
    `rule:${ruleId} allow poke x`,
    `phone revoke ${ruleId}`,
    `phone cancel ${turnId}`,
  ]);
});
