/** The list of Sessions as a client that shows it needs it: its lines, being told of them, and one Session in detail. */
import assert from 'node:assert/strict';
import type { ListedSession, SessionDetails } from '../../../src/acp/wire.ts';
import { call, finish, say } from '../../../src/providers/script.ts';
import type { WireClient } from '../../support/wire-client.ts';
import { ask, type On, rejects, selected } from './stage.ts';

const listed = async (client: WireClient) =>
  (await client.request('session/list')).sessions as unknown as ListedSession[];
const asked = (client: WireClient) => client.frame(({ method }) => method === 'session/request_permission');
const pixirOf = (holder: Record<string, unknown> | undefined) =>
  (holder?._meta as { pixir?: unknown } | undefined)?.pixir;
const infoOf = async (client: WireClient, sessionId: string) =>
  (await client.request('_pixir/session/info', { sessionId })) as unknown as SessionDetails;
const usage = { input: 700, cached: 0, output: 500, reasoning: 0 };

export function watching(on: On): void {
  on('[DIR1] a line of the list: what runs, what waits, how it ended, how far it is', ask, async (stage) => {
    const { w, client } = stage;
    const createdAt = new Date(w.clock.now()).toISOString();
    const sessionId = await client.newSession(w.dir);
    const statusOf = async () => (await listed(client))[0]?._meta.pixir;
    assert.deepEqual(await statusOf(), { state: 'idle', waiting: 0, outcome: null, seq: 0, createdAt });
    w.clock.advance(1_000);
    const prompt = client.prompt(sessionId, 'go');
    const { id } = await asked(client);
    const head = async () => (await w.events(sessionId)).length - 1;
    const waits = { state: 'running', waiting: 1, outcome: null, seq: await head(), createdAt };
    assert.deepEqual(await statusOf(), waits);
    client.raw({ jsonrpc: '2.0', id, result: selected('allow') });
    await prompt;
    const done = { state: 'idle', waiting: 0, outcome: 'completed', seq: await head(), createdAt };
    assert.deepEqual(await statusOf(), done);
  });

  on('[DIR3] [DIR4] who watches the list is told its lines, until they have enough of it', {}, async (stage) => {
    const { w, client } = stage;
    const watcher = await stage.another();
    const told = () => watcher.frames.filter(({ method }) => method === '_pixir/sessions/changed');
    for (let n = 0; n < 2; n++) assert.deepEqual(await watcher.request('_pixir/sessions/watch'), {});
    const first = watcher.next(({ method }) => method === '_pixir/sessions/changed');
    await client.newSession(w.dir);
    assert.deepEqual((await first).params, { sessions: await listed(client), removed: [] });
    for (let n = 0; n < 2; n++) assert.deepEqual(await watcher.request('_pixir/sessions/unwatch'), {});
    await client.newSession(w.dir);
    w.clock.advance(250);
    await listed(watcher);
    assert.equal(told().length, 1);
  });

  on(
    '[DIR6] a Session in detail: what a client that opens it at its end is not shown',
    {
      script: [
        [call('c1', 'planner', { text: 'Look' }), { type: 'finished', reason: 'stop', usage }],
        [call('c2', 'poke', { text: 'x' }), finish()],
        [...say('Done.'), finish()],
      ],
      settings: { permissionCeiling: 'ask' },
    },
    async ({ w, client, another }) => {
      const created = await client.request('session/new', { cwd: w.dir, mcpServers: [] });
      const sessionId = String(created.sessionId);
      const { session, commands, ...fresh } = await infoOf(client, sessionId);
      const { modes, configOptions } = created;
      assert.deepEqual(fresh, { modes, configOptions, plan: null, usage: null, permissions: [] });
      assert.deepEqual([session], await listed(client));
      const offered = await client.update(({ sessionUpdate }) => sessionUpdate === 'available_commands_update');
      assert.deepEqual(offered.params?.update, {
        sessionUpdate: 'available_commands_update',
        availableCommands: commands,
      });

      const prompt = client.prompt(sessionId, 'go');
      const question = await asked(client);
      const other = await another();
      const { plan, permissions, ...waits } = await infoOf(other, sessionId);
      assert.deepEqual(plan, [{ content: 'Look', priority: 'high', status: 'pending' }]);
      assert.deepEqual(waits.usage, { used: 1_000, size: 1_000 }, 'as it was shown');
      assert.deepEqual(permissions, [pixirOf(question.params)]);
      assert.deepEqual([waits.session], await listed(client));
      assert.equal(other.allUpdates().length, 0, 'it subscribes to nothing');
      await client.request('session/set_mode', { sessionId, modeId: 'plan' });
      assert.equal((await infoOf(other, sessionId)).modes.currentModeId, 'plan');
      client.raw({ jsonrpc: '2.0', id: question.id, result: selected('reject') });
      await prompt;
      const types = await w.types(sessionId);
      const after = await infoOf(other, sessionId);
      assert.deepEqual([after.permissions, after.plan, after.usage], [[], plan, waits.usage]);
      assert.deepEqual(await w.types(sessionId), types, 'it changes nothing');
      await rejects(other.request('_pixir/session/info', { sessionId: 'nobody' }), -32002);
      await rejects(other.request('_pixir/session/info', { sessionId: '../x' }), -32602);
    },
  );

  on('[DIR7] a permission says until when it can be answered', ask, async ({ w, client }) => {
    const prompt = client.prompt(await client.newSession(w.dir), 'go');
    const question = await asked(client);
    const { expiresAt } = pixirOf(question.params) as { expiresAt?: string };
    assert.equal(expiresAt, new Date(w.clock.now() + 60_000).toISOString());
    client.raw({ jsonrpc: '2.0', id: question.id, result: selected('reject') });
    await prompt;
  });

  on('[DIR7] what a new Session would offer is known before there is one', ask, async ({ w, client }) => {
    const { result } = await client.frame(({ id }) => id === 1);
    const { configOptions } = await client.request('session/new', { cwd: w.dir, mcpServers: [] });
    assert.deepEqual((pixirOf(result) as { configOptions?: unknown }).configOptions, configOptions);
  });
}
