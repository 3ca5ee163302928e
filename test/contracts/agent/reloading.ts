import assert from 'node:assert/strict';
import { awaitTurn } from '../../../src/core/conversation.ts';
import { LOCAL } from '../../../src/core/principal.ts';
import { call, finish, say, think } from '../../../src/providers/script.ts';
import type { WireClient } from '../../support/wire-client.ts';
import { kinds, type On, rejects, streaming } from './stage.ts';

export function reloading(on: On): void {
  const script = [
    [...think('Hm.'), ...say('Looking.'), call('c1', 'planner', { text: 'step' }), finish()],
    [...say('Done.'), finish()],
    [...say('More.'), finish()],
  ];

  on(
    '[A24] [A25] [LOAD1] load replays all of it before it answers; resume nothing',
    { script },
    async ({ w, client, another }) => {
      const sessionId = await client.newSession(w.dir);
      await client.prompt(sessionId, 'go');
      const [loader, resumer] = [await another(), await another()];
      const load = loader.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
      await load;
      const before = loader.frames.length;
      assert.deepEqual(kinds(loader), [
        'user_message_chunk',
        'agent_message_chunk',
        'tool_call',
        'tool_call_update',
        'plan',
        'agent_message_chunk',
      ]);
      assert.equal(loader.text(), 'Looking.Done.');
      await resumer.request('session/resume', { sessionId, cwd: w.dir });
      assert.deepEqual(kinds(resumer), []);
      await loader.request('logout', {});
      assert.equal(loader.frames.length, before + 1, 'nothing follows the response');
      const shown = (client_: WireClient) =>
        client_
          .updates()
          .filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
          .map(({ messageId }) => messageId);
      assert.deepEqual([...new Set(shown(client))], shown(loader), 'message ids are those of the live stream');
    },
  );

  on(
    '[LOAD2] after a restart everything is there, and the next prompt has the context',
    { script },
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      await client.prompt(sessionId, 'go');
      const next = await w.restart({ script: [[...say('I know.'), finish()]] });
      const later = await next.client();
      await later.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
      await later.prompt(sessionId, 'and?');
      assert.equal(later.text(), 'Looking.Done.I know.');
      assert.deepEqual(
        next.provider.requests[0]?.history.map(({ type }) => type),
        ['user', 'assistant', 'tool_call', 'tool_result', 'assistant', 'user'],
      );
      await next[Symbol.asyncDispose]();
    },
  );

  on(
    '[LOAD3] a client that joins in mid-stream gets what was said so far, and then the rest',
    streaming(),
    async ({ w, client, another }) => {
      const sessionId = await client.newSession(w.dir);
      const prompt = client.prompt(sessionId, 'go');
      await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
      const other = await another();
      await other.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
      assert.equal(other.text(), 'Half a ');
      w.provider.open('go');
      await prompt;
      await other.update(({ content }) => (content as { text?: string })?.text === 'sentence.');
      assert.deepEqual([client.text(), other.text()], ['Half a sentence.', 'Half a sentence.']);
      assert.equal(kinds(other)[0], 'user_message_chunk');
      assert.ok(!kinds(client).includes('user_message_chunk'), 'nobody is told their own prompt');
    },
  );

  on('[LOAD4] loading twice on one connection replays twice and streams once', { script }, async ({ w, client }) => {
    const sessionId = await client.newSession(w.dir);
    await client.prompt(sessionId, 'go');
    for (let n = 0; n < 2; n++) await client.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
    const before = client.updates().length;
    await client.prompt(sessionId, 'more');
    assert.deepEqual(
      client
        .updates()
        .slice(before)
        .map(({ sessionUpdate }) => sessionUpdate),
      ['agent_message_chunk'],
    );
  });

  on('[LOAD5] a Session is loaded only for the directory it belongs to', {}, async ({ w, client }) => {
    const sessionId = await client.newSession(w.dir);
    await rejects(client.request('session/load', { sessionId, cwd: '/', mcpServers: [] }), -32602, { field: 'cwd' });
  });

  on(
    '[TURN14] a client that drops only detaches: its Turn goes on, and is there for the next client',
    streaming(),
    async ({ w, client, another }) => {
      const sessionId = await client.newSession(w.dir);
      const prompt = client.prompt(sessionId, 'go');
      await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
      client.close();
      await assert.rejects(prompt);
      const other = await another();
      await other.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
      assert.equal(other.text(), 'Half a ');
      w.provider.open('go');
      await other.update(({ content }) => (content as { text?: string })?.text === 'sentence.');
      await awaitTurn(w.runtime, LOCAL, sessionId);
      const end = (await w.events(sessionId)).at(-1);
      assert.equal(end?.type === 'turn_finished' && end.data.outcome, 'completed');
    },
  );
}
