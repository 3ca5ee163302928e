import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type On, rejects } from './stage.ts';

export function sessions(on: On): void {
  on(
    '[A05] [A06] [S01] [ACP5] session/new records the posture first and offers every option',
    {},
    async ({ w, client }) => {
      const result = await client.request('session/new', { cwd: w.dir, mcpServers: [] });
      const sessionId = String(result.sessionId);
      const [first] = await w.events(sessionId);
      assert.equal(first?.seq, 0);
      assert.deepEqual(first?.data, { workspace: w.dir, mode: 'build', permissionCeiling: 'auto', owner: 'local' });
      const modes = result.modes as { currentModeId: string; availableModes: { id: string }[] };
      assert.deepEqual([modes.currentModeId, ...modes.availableModes.map(({ id }) => id)], ['build', 'build', 'plan']);
      const options = result.configOptions as { id: string; currentValue: string; options: { value: string }[] }[];
      assert.deepEqual(
        options.map(({ id, currentValue, options: choices }) => [
          id,
          currentValue,
          choices.map(({ value }) => value).join(),
        ]),
        [
          ['mode', 'build', 'build,plan'],
          ['model', 'm1', 'm1,m2'],
          ['reasoning_effort', 'default', 'default,low,medium,high,xhigh'],
          ['permission_mode', 'auto', 'auto,ask,read_only'],
        ],
      );
    },
  );

  on(
    '[A08] [A09] [A20] [A21] [A22] [A23] [ACP6] bad params are refused and never echoed',
    {},
    async ({ w, client }) => {
      const mcpServers: unknown[] = [];
      await rejects(client.request('session/new', { mcpServers }), -32602);
      await rejects(client.request('session/new', { cwd: 'relative', mcpServers }), -32602);
      await rejects(client.request('session/new', { cwd: w.dir }), -32602);
      await rejects(client.request('session/new', { cwd: join(w.dir, 'missing'), mcpServers }), -32602);
      await rejects(
        client.request('session/new', {
          cwd: w.dir,
          mcpServers: [{ type: 'http', name: 'x', url: 'ftp://x', headers: [] }],
        }),
        -32602,
      );
      await client.request('session/new', { cwd: w.dir, mcpServers: null });
      const hostile = '../../../outside;PWN';
      for (const method of ['session/load', 'session/resume']) {
        await rejects(client.request(method, { sessionId: 'nobody', cwd: w.dir, mcpServers }), -32002, {
          sessionId: 'nobody',
        });
        await rejects(client.request(method, { sessionId: hostile, cwd: w.dir, mcpServers }), -32602, {
          field: 'sessionId',
        });
        await rejects(client.request(method, { sessionId: 'nobody', cwd: 'rel', mcpServers }), -32602);
      }
      await rejects(client.prompt('nobody', 'hi'), -32002, { sessionId: 'nobody' });
      assert.ok(!JSON.stringify(client.frames).includes('PWN'));
      const sessionId = await client.newSession(w.dir);
      const prompt = (blocks: unknown) => client.request('session/prompt', { sessionId, prompt: blocks });
      for (const blocks of [
        [],
        'text',
        [{ type: 'text', text: ' ' }],
        [{ type: 'video' }],
        [{ type: 'image', data: 'x', mimeType: 'image/png' }],
      ]) {
        await rejects(prompt(blocks), -32602);
      }
      assert.deepEqual(await w.types(sessionId), ['session_created']);
    },
  );

  on(
    '[A10] [A11] [A12] [A13] [A14] [A16] [A18] [ACP11] modes and options change, are told and last',
    {},
    async (stage) => {
      const { w, client } = stage;
      const sessionId = await client.newSession(w.dir);
      assert.deepEqual(await client.request('session/set_mode', { sessionId, modeId: 'plan' }), {});
      await client.update(
        ({ sessionUpdate, currentModeId }) => sessionUpdate === 'current_mode_update' && currentModeId === 'plan',
      );
      const set = (configId: string, value: string) =>
        client.request('session/set_config_option', { sessionId, configId, value });
      const { configOptions } = await set('reasoning_effort', 'high');
      const values = (configOptions as { currentValue: string }[]).map(({ currentValue }) => currentValue);
      assert.deepEqual(values, ['plan', 'm1', 'high', 'auto']);
      assert.deepEqual(await client.request('session/set_model', { sessionId, modelId: 'm2' }), {});
      await rejects(client.request('session/set_mode', { sessionId, modeId: 'nope' }), -32602, { mode: 'nope' });
      await rejects(client.request('session/set_mode', { sessionId: 'nobody', modeId: 'plan' }), -32002);
      await rejects(client.request('session/set_model', { sessionId, modelId: 'nope' }), -32602, { model: 'nope' });
      await rejects(set('nope', 'x'), -32602, { configId: 'nope' });
      await rejects(set('reasoning_effort', 'nope'), -32602, { configId: 'reasoning_effort', value: 'nope' });
      const after = await (await w.restart()).client();
      const loaded = await after.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
      const kept = (loaded.configOptions as { currentValue: string }[]).map(({ currentValue }) => currentValue);
      assert.deepEqual(kept, ['plan', 'm2', 'high', 'auto']);
    },
  );

  on(
    '[PERM6] a ceiling limits what may be chosen',
    { settings: { permissionCeiling: 'ask' } },
    async ({ w, client }) => {
      const { sessionId, configOptions } = await client.request('session/new', { cwd: w.dir, mcpServers: [] });
      const option = (configOptions as { id: string; options: { value: string }[] }[]).find(
        ({ id }) => id === 'permission_mode',
      );
      assert.deepEqual(
        option?.options.map(({ value }) => value),
        ['ask', 'read_only'],
      );
      const value = (mode: string) =>
        client.request('session/set_config_option', { sessionId, configId: 'permission_mode', value: mode });
      await rejects(value('auto'), -32602);
      await value('read_only');
    },
  );
}
