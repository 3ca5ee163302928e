import assert from 'node:assert/strict';
import { finish, say } from '../../../src/providers/script.ts';
import type { Update, WireClient } from '../../support/wire-client.ts';
import { type On, rejects } from './stage.ts';

const isOffer = (update: Update) => update.sessionUpdate === 'available_commands_update';
const updateOf = (frame: { params?: Record<string, unknown> }) => (frame.params?.update ?? {}) as Update;
const asked = ({ frames }: WireClient, result: unknown) => frames.findIndex((frame) => frame.result === result);
const offered = ({ frames }: WireClient, from = 0) =>
  frames.findIndex(({ params }, at) => at >= from && isOffer((params?.update ?? {}) as Update));
const hello = { script: ['Hello.', 'More.', 'And more.', 'The end.'].map((text) => [...say(text), finish()]) };

export function commands(on: On): void {
  on('[LIFE11] the commands follow the answer', hello, async ({ w, client, another, withCursors }) => {
    const setup = { cwd: w.dir, mcpServers: [] };
    const made = await client.request('session/new', setup);
    const { sessionId } = made;
    const offer = await client.update(isOffer);
    const { availableCommands } = updateOf(offer) as unknown as {
      availableCommands: { name: string; input?: unknown }[];
    };
    assert.deepEqual(
      availableCommands.map(({ name, input }) => [name, input !== undefined]),
      [
        ['plan', true],
        ['build', true],
        ['compact', true],
        ['help', false],
      ],
    );
    assert.ok(offered(client) > asked(client, made));
    await client.prompt(String(sessionId), 'hi');
    const openings = {
      'session/load': setup,
      'session/resume': setup,
      'session/fork': setup,
      '_pixir/session/attach': {},
    };
    for (const [method, more] of Object.entries(openings)) {
      const reader = method.startsWith('_pixir') ? await withCursors() : await another();
      const result = await reader.request(method, { sessionId, ...more });
      await reader.update(isOffer);
      assert.ok(offered(reader) > asked(reader, result), method);
      assert.equal(reader.allUpdates().filter(isOffer).length, 1, method);
    }
  });

  on('[LIFE12] a command with a text sets the mode and asks the rest', hello, async ({ w, client, another }) => {
    const sessionId = await client.newSession(w.dir);
    const other = await another();
    await other.request('session/resume', { sessionId, cwd: w.dir });
    const key = { pixir: { promptKey: 'k' } };
    assert.deepEqual(await client.prompt(sessionId, '/plan  fix the test', key), { stopReason: 'end_turn' });
    const [request] = w.provider.requests;
    assert.deepEqual(request?.history, [{ type: 'user', content: [{ type: 'text', text: 'fix the test' }] }]);
    assert.match(JSON.stringify([request?.instructions, request?.developerContext]), /plan/i);
    const types = await w.types(sessionId);
    assert.deepEqual(types.slice(1, 4), ['session_configured', 'turn_started', 'user_message']);
    await client.request('session/set_mode', { sessionId, modeId: 'build' });
    assert.deepEqual(await client.prompt(sessionId, '/plan  fix the test', key), { stopReason: 'end_turn' });
    assert.equal((await w.types(sessionId)).length, types.length + 1, 'sent again, it changes nothing');
    const said = await other.update(({ sessionUpdate }) => sessionUpdate === 'user_message_chunk');
    assert.deepEqual(updateOf(said).content, { type: 'text', text: '/plan  fix the test' }, 'as it was typed');
    await other.update(({ title }) => title === 'fix the test');
    await rejects(client.prompt(sessionId, '/plan another', key), -32602, { reason: 'prompt_key_conflict' });
  });

  on(
    '[LIFE12] a bare command and /help are answered without a model, and replayed',
    hello,
    async ({ w, client, another }) => {
      const sessionId = await client.newSession(w.dir);
      for (const text of ['/plan', '/help', '/build \n', '/help me'])
        assert.deepEqual(await client.prompt(sessionId, text), { stopReason: 'end_turn' });
      assert.equal(w.provider.requests.length, 0);
      assert.match(client.text(), /Mode: Plan.*\/plan \[what to plan\].*\/help.*Mode: Build.*Begin/s);
      const loader = await another();
      await loader.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
      assert.equal(loader.text(), client.text());
      assert.ok(!(await w.types(sessionId)).includes('session_titled'), 'they say nothing of what it is about');
      for (const text of ['/plans are good', '/etc/hosts?', ' /plan', '/']) {
        await client.prompt(sessionId, text);
        const content = [{ type: 'text', text }];
        assert.deepEqual(w.provider.requests.at(-1)?.history.at(-1), { type: 'user', content }, 'it is text');
      }
    },
  );
}
