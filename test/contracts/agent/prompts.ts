import assert from 'node:assert/strict';
import { call, finish, say, think } from '../../../src/providers/script.ts';
import { kinds, type On, rejects } from './stage.ts';

export function prompts(on: On): void {
  on(
    '[B01] [TURN3] text streams, and comes before the response',
    { script: [[...say('Hi there!'), finish()]] },
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      assert.deepEqual(await client.prompt(sessionId, 'hello'), { stopReason: 'end_turn' });
      assert.equal(client.text(sessionId), 'Hi there!');
      assert.deepEqual(kinds(client), ['agent_message_chunk', 'agent_message_chunk']);
      const types = [
        'session_created',
        'turn_started',
        'user_message',
        'assistant_message',
        'provider_usage',
        'session_titled',
        'turn_finished',
      ];
      assert.deepEqual(await w.types(sessionId), types);
    },
  );

  const whole = [{ type: 'message' as const, text: 'Whole.' }, finish()];
  on('[B02] text that did not stream comes as one chunk', { script: [whole] }, async ({ w, client }) => {
    const sessionId = await client.newSession(w.dir);
    await client.prompt(sessionId, 'hello');
    assert.deepEqual(
      client.updates().map(({ content }) => content),
      [{ type: 'text', text: 'Whole.' }],
    );
  });

  const tool = [
    [...think('Hm.'), ...say('Looking. '), call('c1', 'note', { text: 'a' }), finish()],
    [...say('Done.'), finish()],
  ];
  on(
    '[B14] [U02] [TURN6] thoughts, text and tools are shown in the order they happened',
    { script: tool },
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      await client.prompt(sessionId, 'go');
      assert.deepEqual(kinds(client), [
        'agent_thought_chunk',
        'agent_message_chunk',
        'tool_call',
        'tool_call_update',
        'agent_message_chunk',
      ]);
      const [, , started, ended] = client.updates();
      assert.deepEqual([started?.toolCallId, started?.status, started?.kind], ['c1', 'in_progress', 'read']);
      assert.deepEqual([ended?.toolCallId, ended?.status], ['c1', 'completed']);
      const ids = new Set(client.updates().map(({ messageId }) => messageId));
      assert.equal(ids.size, 4, 'each message has an id of its own');
    },
  );

  const failure = Object.assign(new Error('boom'), {});
  on(
    '[TURN7] a defect is told as an internal error, and the Turn ends',
    { script: [[{ type: 'fail', error: failure }]] },
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      assert.deepEqual(await client.prompt(sessionId, 'go'), { stopReason: 'end_turn' });
      assert.equal(client.text(), 'internal error');
      assert.deepEqual(w.errors.splice(0), [failure]);
    },
  );

  on(
    '[B16] [ACP7] one Turn at a time: a second prompt is refused, the first goes on',
    { script: [[{ type: 'wait', gate: 'go' }, ...say('ok'), finish()]] },
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      const first = client.prompt(sessionId, 'one');
      await rejects(client.prompt(sessionId, 'two'), -32600, { reason: 'turn_in_progress' });
      w.provider.open('go');
      assert.deepEqual(await first, { stopReason: 'end_turn' });
    },
  );

  const model = [
    [...say('a'), finish()],
    [...say('b'), finish()],
    [...say('c'), finish()],
  ];
  on('[A15] [B05] [B06] [B08] knobs in _meta hold for one Turn', { script: model }, async ({ w, client }) => {
    const sessionId = await client.newSession(w.dir);
    await client.request('session/set_model', { sessionId, modelId: 'm2' });
    await client.prompt(sessionId, 'x', {
      model: ' m1 ',
      reasoning_effort: 'high',
      presenter_context: { file: 'a.ts' },
      other: 1,
    });
    await client.prompt(sessionId, 'y');
    await rejects(client.prompt(sessionId, 'z', { model: 'nope' }), -32602, { model: 'nope' });
    await rejects(client.prompt(sessionId, 'z', { reasoning_effort: 'nope' }), -32602);
    const seen = w.provider.requests.map(({ model: id, effort, developerContext }) => [
      id,
      effort,
      developerContext.includes('a.ts'),
    ]);
    assert.deepEqual(seen, [
      ['m1', 'high', true],
      ['m2', 'default', false],
    ]);
  });

  on(
    '[ACP8] two Sessions on one connection run side by side',
    {
      script: [
        [...say('wait, '), { type: 'wait', gate: 'a' }, ...say('first'), finish()],
        [...say('second'), finish()],
      ],
    },
    async ({ w, client }) => {
      const [a, b] = [await client.newSession(w.dir), await client.newSession(w.dir)];
      const slow = client.prompt(a, 'one');
      // It must be the first at the model, whose answers come in order.
      await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
      await client.prompt(b, 'two');
      w.provider.open('a');
      await slow;
      assert.deepEqual([client.text(a), client.text(b)], ['wait, first', 'second']);
    },
  );
}
