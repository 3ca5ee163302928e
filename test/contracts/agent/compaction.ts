import assert from 'node:assert/strict';
import { CoreError } from '../../../src/core/errors.ts';
import { COMPACTION_PROMPT } from '../../../src/core/prompt.ts';
import { type ScriptStep, say } from '../../../src/providers/script.ts';
import type { Update, WireClient } from '../../support/wire-client.ts';
import { kinds, type On } from './stage.ts';

const taking = (input: number): ScriptStep => {
  return { type: 'finished', reason: 'stop', usage: { input, cached: 0, output: 12, reasoning: 2 } };
};
const hello = [...say('Hello.'), taking(900)];
const summary = [...say('What was said.'), taking(907)];
const showing = { session: { compaction: {} } };
const said = 'The conversation was compacted: I go on from a summary of it. Tokens: 907 before, 10 in the summary.';

const compactions = (updates: Update[]) =>
  updates
    .filter(({ sessionUpdate }) => sessionUpdate === 'compaction_update')
    .map(({ sessionUpdate: _, compactionId, ...rest }) => {
      assert.match(String(compactionId), /^cmp_/);
      return rest;
    });
const completed = [
  { status: 'in_progress' },
  { status: 'completed', summary: [{ type: 'text', text: 'What was said.' }] },
];

async function load(client: WireClient, sessionId: string, cwd: string): Promise<WireClient> {
  await client.request('session/load', { sessionId, cwd, mcpServers: [] });
  return client;
}

export function compaction(on: On): void {
  on(
    '[COMP6] what a compaction does is shown to those who said that they show it, and told to everybody',
    { script: [hello, summary, [...say('On.'), taking(30)]] },
    async ({ w, client, another, connect }) => {
      const sessionId = await client.newSession(w.dir);
      const shown = await connect(showing);
      await client.prompt(sessionId, 'hi');
      await shown.request('session/resume', { sessionId, cwd: w.dir });
      assert.deepEqual(await client.prompt(sessionId, '/compact keep the plan'), { stopReason: 'end_turn' });
      await shown.update(({ content }) => (content as { text?: string } | undefined)?.text === said);
      assert.deepEqual(compactions(shown.updates()), completed);
      const order = ['user_message_chunk', 'compaction_update', 'compaction_update', 'usage_update'];
      assert.deepEqual(kinds(shown), [...order, 'agent_message_chunk']);
      assert.deepEqual(compactions(client.updates()), []);
      assert.equal(client.text(), `Hello.${said}`);
      assert.equal(client.updates().findLast(({ sessionUpdate }) => sessionUpdate === 'usage_update')?.used, 10);
      const request = w.provider.requests[1];
      assert.deepEqual([request?.instructions, request?.tools], [COMPACTION_PROMPT, []]);
      assert.match(JSON.stringify(request?.history.at(-1)), /keep: keep the plan/);
      // Again, on every way back.
      const plain = await load(await another(), sessionId, w.dir);
      assert.deepEqual([compactions(plain.updates()), plain.text()], [[], client.text()]);
      const loaded = await load(await connect(showing), sessionId, w.dir);
      assert.deepEqual([compactions(loaded.updates()), loaded.text()], [completed, client.text()]);
      const texts = loaded.updates().map(({ content }) => (content as { text?: string } | undefined)?.text);
      for (const text of ['hi', 'Hello.', '/compact keep the plan', said]) assert.ok(texts.includes(text), text);
      const attached = await connect({ ...showing, _meta: { pixir: { cursor: 1 } } });
      await attached.request('_pixir/session/attach', { sessionId });
      await attached.frame(({ method }) => method === '_pixir/session/caught_up');
      assert.deepEqual(compactions(attached.updates()), completed);
      for (const [reader, expected] of [
        [attached, completed],
        [plain, []],
      ] as const) {
        const page = await reader.request('_pixir/session/history', { sessionId, limit: 100 });
        const updates = (page.updates as { update: Update }[]).map(({ update }) => update);
        assert.deepEqual(compactions(updates), expected);
      }
      await client.prompt(sessionId, 'and now?');
      assert.equal(w.provider.requests[2]?.history.length, 2, 'the model is shown the summary and the prompt');
    },
  );

  const refused: ScriptStep[] = [{ type: 'fail', error: new CoreError('rate_limited', 'slow down') }];
  on(
    '[COMP6] a compaction that nobody asked for is told as well, and so is its failure',
    { script: [hello, refused, [...say('Without.'), taking(900)], summary, [...say('With.'), taking(30)]] },
    async ({ w, client, connect }) => {
      const sessionId = await client.newSession(w.dir);
      await client.prompt(sessionId, 'hi');
      const shown = await connect(showing);
      for (const reader of [client, shown]) await load(reader, sessionId, w.dir);
      const before = client.text().length;
      await client.prompt(sessionId, 'and?');
      await client.prompt(sessionId, 'so?');
      const failure = 'The conversation could not be compacted: slow down';
      assert.equal(client.text().slice(before), `${failure}Without.${said}With.`);
      await shown.update(({ content }) => (content as { text?: string } | undefined)?.text?.endsWith('With.') ?? false);
      const failed = [{ status: 'in_progress' }, { status: 'failed', error: 'slow down' }];
      assert.deepEqual(compactions(shown.updates()), [...failed, ...completed]);
    },
  );

  on(
    '[COMP3] [COMP6] a cancelled compaction is shown as cancelled, and the Session goes on as before',
    {
      script: [hello, [...say('What'), { type: 'hang' }], [...say('Yes.'), taking(30)]],
      settings: { autoCompact: false },
    },
    async ({ w, connect }) => {
      const client = await connect(showing);
      const sessionId = await client.newSession(w.dir);
      await client.prompt(sessionId, 'hi');
      const answer = client.prompt(sessionId, '/compact');
      await client.update(({ status }) => status === 'in_progress');
      client.notify('session/cancel', { sessionId });
      assert.deepEqual(await answer, { stopReason: 'cancelled' });
      const cancelled = { status: 'cancelled', error: 'the Turn was cancelled' };
      assert.deepEqual(compactions(client.updates()), [{ status: 'in_progress' }, cancelled]);
      assert.equal(client.text(), 'Hello.', 'nothing of the summary was streamed');
      await client.prompt(sessionId, 'and?');
      assert.equal(w.provider.requests[2]?.history.length, 3);
    },
  );
}
