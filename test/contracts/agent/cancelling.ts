import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { call, finish, say } from '../../../src/providers/script.ts';
import type { WorldOptions } from '../../support/world.ts';
import { ask, type On, rejects } from './stage.ts';

export function cancelling(on: On): void {
  const streaming: WorldOptions = {
    script: [
      [{ type: 'delta', kind: 'message', text: 'Half a sen' }, { type: 'hang' }],
      [...say('Next.'), finish()],
    ],
  };
  on(
    '[B17] [B18] [CAN1] cancelled mid-stream: what was said is kept, and the next Turn works',
    streaming,
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      const prompt = client.prompt(sessionId, 'go');
      await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
      client.notify('session/cancel', { sessionId });
      assert.deepEqual(await prompt, { stopReason: 'cancelled' });
      const events = await w.events(sessionId);
      const partial = events.find(({ type }) => type === 'assistant_message');
      assert.deepEqual(partial?.type === 'assistant_message' && [partial.data.text, partial.data.partial], [
        'Half a sen',
        'cancelled',
      ]);
      assert.equal(client.text(), 'Half a sen', 'and is not said twice');
      client.notify('session/cancel', { sessionId });
      assert.deepEqual(await client.prompt(sessionId, 'again'), { stopReason: 'end_turn' });
    },
  );

  on('[CAN2] a cancel that follows its prompt at once is not lost', streaming, async ({ w, client }) => {
    const sessionId = await client.newSession(w.dir);
    const prompt = client.prompt(sessionId, 'go');
    client.notify('session/cancel', { sessionId });
    assert.deepEqual(await prompt, { stopReason: 'cancelled' });
  });

  on(
    '[J05] [CAN3] a cancel with a blank id is a cancel; with an id it is an unknown request',
    streaming,
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      const prompt = client.prompt(sessionId, 'go');
      await rejects(client.request('session/cancel', { sessionId }), -32601);
      client.raw({ jsonrpc: '2.0', id: '', method: 'session/cancel', params: { sessionId } });
      assert.deepEqual(await prompt, { stopReason: 'cancelled' });
      assert.ok(!client.frames.some(({ id }) => id === ''));
    },
  );

  on('[CAN4] $/cancel_request on a prompt cancels its Turn', streaming, async ({ w, client }) => {
    const sessionId = await client.newSession(w.dir);
    const prompt = client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] }, 'p1');
    await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
    client.notify('$/cancel_request', { requestId: 'unknown' });
    client.notify('$/cancel_request', { requestId: 'p1' });
    assert.deepEqual(await prompt, { stopReason: 'cancelled' });
  });

  on(
    '[CAN5] cancelled inside a tool: it is stopped, shown as failed, and was shown live',
    { script: [[call('c1', 'hang', {}), finish()]] },
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      const prompt = client.prompt(sessionId, 'go');
      await client.update(
        ({ sessionUpdate, status }) => sessionUpdate === 'tool_call_update' && status === 'in_progress',
      );
      client.notify('session/cancel', { sessionId });
      assert.deepEqual(await prompt, { stopReason: 'cancelled' });
      assert.deepEqual(client.updates().at(-1)?.status, 'failed');
    },
  );

  on('[CAN6] cancelled while a permission is pending: withdrawn, denied, not run', ask, async ({ w, client }) => {
    const sessionId = await client.newSession(w.dir);
    const prompt = client.prompt(sessionId, 'go');
    const { id } = await client.frame(({ method }) => method === 'session/request_permission');
    client.notify('session/cancel', { sessionId });
    assert.deepEqual(await prompt, { stopReason: 'cancelled' });
    await client.frame(({ method, params }) => method === '$/cancel_request' && params?.requestId === id);
    assert.ok(!existsSync(join(w.dir, 'poked')));
  });

  on('[B22] [CAN7] a cancel for nothing changes nothing', {}, async ({ client }) => {
    client.notify('session/cancel', { sessionId: 'nobody' });
    client.notify('session/cancel', { sessionId: '../x' });
    assert.deepEqual(await client.request('logout', {}), {});
  });
}
