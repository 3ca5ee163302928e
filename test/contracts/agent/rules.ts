/** Decisions that are remembered, as a client makes, sees and ends them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { call, finish, say } from '../../../src/providers/script.ts';
import type { WireClient } from '../../support/wire-client.ts';
import type { World } from '../../support/world.ts';
import { type On, rejects, selected } from './stage.ts';

/** A Turn for each text, which pokes with it. */
const pokes = (...texts: string[]) => ({
  script: texts.flatMap((text) => [
    [call('c', 'poke', { text }), finish()],
    [...say('Done.'), finish()],
  ]),
  settings: { permissionCeiling: 'ask' as const },
});

interface Option {
  optionId: string;
  kind: string;
  name: string;
}

/** Answers every question with the next of these, and keeps what was offered. */
function answering(client: WireClient, ...optionIds: string[]) {
  const offered: Option[][] = [];
  client.onPermission = ({ options }) => {
    offered.push(options as Option[]);
    return selected(optionIds[offered.length - 1] ?? assert.fail('asked once more'));
  };
  return offered;
}

interface Rule {
  ruleId: string;
  text: string;
}

const rulesOf = async (client: WireClient, sessionId: string) =>
  (await client.request('_pixir/session/permissions', { sessionId })).rules as Rule[];
const poked = (w: World) => readFile(join(w.dir, 'poked'), 'utf8').catch(() => '');
const decisionsOf = async (w: World, sessionId: string) =>
  (await w.events(sessionId)).flatMap(({ type, data }) =>
    type === 'permission_decision' ? [`${data.decision} ${data.by.replace(/_\w+/, '')}`] : [],
  );

export function rules(on: On): void {
  on(
    '[PERM13] [PERM15] always: the same is not asked again, anything else is',
    pokes('x', 'x', 'x '),
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      const offered = answering(client, 'always', 'reject');
      for (const text of ['1', '2', '3']) await client.prompt(sessionId, text);
      assert.deepEqual(
        offered.map((options) => options.map(({ kind }) => kind)),
        [...Array(2)].map(() => ['allow_once', 'allow_always', 'reject_once', 'reject_always']),
      );
      assert.equal(offered[0]?.[1]?.name, 'Always allow "poke" with {"text":"x"}');
      assert.equal(await poked(w), 'xx');
      assert.deepEqual(await decisionsOf(w, sessionId), ['allow local', 'allow rule:rule', 'deny local']);
      const [rule] = await rulesOf(client, sessionId);
      assert.deepEqual(
        { ...rule, ruleId: '', at: '' },
        { ruleId: '', decision: 'allow', tool: 'poke', text: offered[0]?.[1]?.name, by: 'local', at: '' },
      );
    },
  );

  on('[PERM13] [PERM15] never: the same is refused without asking', pokes('x', 'x'), async ({ w, client }) => {
    const sessionId = await client.newSession(w.dir);
    answering(client, 'never');
    assert.deepEqual(await client.prompt(sessionId, '1'), { stopReason: 'end_turn' });
    assert.deepEqual(await client.prompt(sessionId, '2'), { stopReason: 'end_turn' });
    assert.equal(await poked(w), '');
    assert.deepEqual(await decisionsOf(w, sessionId), ['deny local', 'deny rule:rule']);
    assert.equal((await rulesOf(client, sessionId))[0]?.text, 'Always reject "poke" with {"text":"x"}');
  });

  const unclear = { 'a hidden character': 'r\u200bm', padding: `rm${' '.repeat(90)}x`, length: 'a'.repeat(200) };
  for (const [why, hidden] of Object.entries(unclear)) {
    on(
      `[PERM13] nothing is offered for good that cannot be seen in full: ${why}`,
      pokes(hidden, hidden, hidden),
      async ({ w, client }) => {
        const sessionId = await client.newSession(w.dir);
        const offered = answering(client, 'always', 'never', 'allow');
        for (const text of ['1', '2', '3']) await client.prompt(sessionId, text);
        assert.deepEqual(
          offered.map((options) => options.map(({ optionId }) => optionId)),
          [...Array(3)].map(() => ['allow', 'reject']),
        );
        assert.equal(await poked(w), hidden, 'what was not offered allows nothing');
        assert.deepEqual(await rulesOf(client, sessionId), []);
      },
    );
  }

  on(
    '[PERM14] of two answers the first decides, and only it makes a rule, in the same commit',
    pokes('x', 'x', 'y'),
    async ({ w, client, another }) => {
      const sessionId = await client.newSession(w.dir);
      const other = await another();
      await other.request('session/resume', { sessionId, cwd: w.dir });
      let made = 0;
      for (const [first, second, atOnce] of [
        ['reject', 'always', false],
        ['always', 'reject', false],
        ['always', 'reject', true],
      ] as const) {
        const asked = [client, other].map((one) => one.next(({ method }) => method === 'session/request_permission'));
        const prompt = client.prompt(sessionId, 'go');
        const [mine, theirs] = await Promise.all(asked);
        other.raw({ jsonrpc: '2.0', id: theirs?.id, result: selected(first) });
        if (!atOnce)
          await client.frame(({ method, params }) => method === '$/cancel_request' && params?.requestId === mine?.id);
        client.raw({ jsonrpc: '2.0', id: mine?.id, result: selected(second) });
        await prompt;
        const decision = (await decisionsOf(w, sessionId)).at(-1);
        if (!atOnce) assert.equal(decision, first === 'always' ? 'allow local' : 'deny local');
        if (decision === 'allow local') made++;
        assert.equal((await rulesOf(client, sessionId)).length, made);
      }
      const types = await w.types(sessionId);
      assert.equal(types[types.indexOf('permission_rule') - 1], 'permission_decision');
    },
  );

  on(
    '[PERM15] a rule decides only what would be asked: plan mode and read_only refuse',
    pokes('x', 'x', 'x'),
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      answering(client, 'always');
      await client.prompt(sessionId, '1');
      await client.prompt(sessionId, '2', { permission_mode: 'read_only' });
      await client.request('session/set_mode', { sessionId, modeId: 'plan' });
      await client.prompt(sessionId, '3');
      assert.equal(await poked(w), 'x');
      assert.deepEqual(await decisionsOf(w, sessionId), ['allow local', 'deny mode', 'deny mode']);
    },
  );

  on('[PERM17] a revoked rule decides nothing; it is asked again', pokes('x', 'x'), async ({ w, client, another }) => {
    const sessionId = await client.newSession(w.dir);
    const offered = answering(client, 'always', 'reject');
    await client.prompt(sessionId, '1');
    const [{ ruleId } = { ruleId: '' }] = await rulesOf(client, sessionId);
    const revoke = '_pixir/session/permissions/revoke';
    const watcher = await another();
    await watcher.request('_pixir/session/attach', { sessionId, role: 'observer' });
    await rejects(watcher.request(revoke, { sessionId, ruleId }), -32600, { reason: 'observer' });
    assert.equal((await rulesOf(watcher, sessionId)).length, 1);
    assert.deepEqual(await client.request(revoke, { sessionId, ruleId }), {});
    const types = await w.types(sessionId);
    assert.deepEqual(await client.request(revoke, { sessionId, ruleId }), {});
    assert.deepEqual(await w.types(sessionId), types, 'once is enough');
    for (const unknown of ['', 'rule_0', ruleId.toUpperCase()])
      await rejects(client.request(revoke, { sessionId, ruleId: unknown }), -32602);
    assert.deepEqual(await rulesOf(client, sessionId), []);
    await client.prompt(sessionId, '2');
    assert.equal(offered.length, 2);
    assert.equal(await poked(w), 'x');
  });
}
