import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ask, type On, poking, selected } from './stage.ts';

export function permissions(on: On): void {
  on('[B24] [X10] [PERM7] allowed once, the tool runs', ask, async ({ w, client }) => {
    client.onPermission = () => selected('allow');
    const sessionId = await client.newSession(w.dir);
    await client.prompt(sessionId, 'go');
    assert.ok(existsSync(join(w.dir, 'poked')));
    const request = client.frames.find(({ method }) => method === 'session/request_permission');
    assert.ok(typeof request?.id === 'number' && request.id < 0, '[B26] our ids are negative');
    const shown = client.frames.findIndex(
      ({ params }) => (params?.update as { sessionUpdate?: string })?.sessionUpdate === 'tool_call',
    );
    assert.ok(shown < client.frames.indexOf(request), 'the call is shown before it is asked about');
    assert.ok(
      (await w.types(sessionId)).join().includes('tool_call,permission_requested,permission_decision,tool_result'),
    );
  });

  const refusals: [string, unknown][] = [
    ['rejected', selected('reject')],
    ['an option that was not offered', selected('allow_always')],
    ['cancelled by the client', { outcome: { outcome: 'cancelled' } }],
    ['malformed', { outcome: 'allow' }],
  ];
  for (const [how, result] of refusals) {
    on(`[B25] [PERM8] ${how}: the tool does not run and the Turn goes on`, ask, async ({ w, client }) => {
      client.onPermission = () => result;
      const sessionId = await client.newSession(w.dir);
      assert.deepEqual(await client.prompt(sessionId, 'go'), { stopReason: 'end_turn' });
      assert.ok(!existsSync(join(w.dir, 'poked')));
      assert.equal(
        client.updates().find(({ sessionUpdate }) => sessionUpdate === 'tool_call_update')?.status,
        'failed',
      );
      assert.equal(client.text(), 'Done.');
    });
  }

  on('[B27] [PERM8] an error for an answer is a denial', ask, async ({ w, client }) => {
    client.onPermission = (_params, id) =>
      void client.raw({ jsonrpc: '2.0', id, error: { code: -32603, message: 'no' } });
    await client.prompt(await client.newSession(w.dir), 'go');
    assert.ok(!existsSync(join(w.dir, 'poked')));
  });

  on(
    '[B28] [PERM9] nobody answers: denied at the deadline, and a late answer changes nothing',
    ask,
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      const prompt = client.prompt(sessionId, 'go');
      const { id } = await client.frame(({ method }) => method === 'session/request_permission');
      w.clock.advance(60_000);
      await prompt;
      await client.frame(({ method, params }) => method === '$/cancel_request' && params?.requestId === id);
      client.raw({ jsonrpc: '2.0', id, result: selected('allow') });
      await client.request('logout', {});
      assert.ok(!existsSync(join(w.dir, 'poked')));
    },
  );

  on(
    '[PERM10] two clients are asked, the first answer wins and the other question is withdrawn',
    ask,
    async ({ w, client, another }) => {
      const sessionId = await client.newSession(w.dir);
      const other = await another();
      await other.request('session/resume', { sessionId, cwd: w.dir });
      const prompt = client.prompt(sessionId, 'go');
      const mine = await client.frame(({ method }) => method === 'session/request_permission');
      const theirs = await other.frame(({ method }) => method === 'session/request_permission');
      other.raw({ jsonrpc: '2.0', id: theirs.id, result: selected('reject') });
      await client.frame(({ method, params }) => method === '$/cancel_request' && params?.requestId === mine.id);
      client.raw({ jsonrpc: '2.0', id: mine.id, result: selected('allow') });
      await prompt;
      assert.ok(!existsSync(join(w.dir, 'poked')));
      assert.equal((await w.types(sessionId)).filter((type) => type === 'permission_decision').length, 1);
    },
  );

  on('[ACP9] a pending permission holds up nothing else', ask, async ({ w, client }) => {
    const sessionId = await client.newSession(w.dir);
    const prompt = client.prompt(sessionId, 'go');
    const { id } = await client.frame(({ method }) => method === 'session/request_permission');
    await client.newSession(w.dir);
    await client.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
    const again = await client.frame((frame) => frame.method === 'session/request_permission' && frame.id !== id);
    client.raw({ jsonrpc: '2.0', id: again.id, result: selected('allow') });
    assert.deepEqual(await prompt, { stopReason: 'end_turn' });
  });

  on(
    '[U13] [PERM11] plan mode refuses in the Executor, whatever the model tries',
    { script: poking },
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      await client.request('session/set_mode', { sessionId, modeId: 'plan' });
      await client.prompt(sessionId, 'go', { permission_mode: 'auto' });
      assert.ok(!existsSync(join(w.dir, 'poked')));
      const decision = (await w.events(sessionId)).find(({ type }) => type === 'permission_decision');
      assert.deepEqual(decision?.type === 'permission_decision' && [decision.data.decision, decision.data.by], [
        'deny',
        'mode',
      ]);
    },
  );
}
