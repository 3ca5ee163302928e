import assert from 'node:assert/strict';
import { test } from 'node:test';
import { start } from '../../src/core/lifecycle.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { COMPACTION_PROMPT } from '../../src/core/prompt.ts';
import { demonstrate } from '../../src/providers/scripted-demo.ts';
import { USER_ASKS } from '../contracts/provider.ts';
import { call, message } from '../support/fake-openai-steps.ts';
import { sendText } from '../support/send.ts';
import { world } from '../support/world.ts';
import { HTTP_DIALECTS, type HttpDialect, httpRig } from './rigs.ts';

const ASK = '[Pixir: write the summary of this conversation now.]\n\nThe user wants it to keep: the plan';
const NOTE =
  '[Pixir: the conversation so far was replaced by this summary, which you wrote. Go on from it. Where the current ' +
  'request follows it in full, the summary tells how far you have come with that.]\n\nWhat was said.';

/** What is sent for the summary, and for the prompt after it: `id` is the Session's. */
const BODIES: Record<HttpDialect, (id: string) => [object, object[]]> = {
  openai: (id) => {
    const user = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
    const said = (text: string) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
    return [
      {
        model: 'm1',
        stream: true,
        store: false,
        instructions: COMPACTION_PROMPT,
        input: [
          user('hello'),
          { type: 'function_call', call_id: 'c1', name: 'note', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c1', output: 'noted ' },
          said('Hi.'),
          user(ASK),
        ],
        include: ['reasoning.encrypted_content'],
        reasoning: { summary: 'auto' },
        prompt_cache_key: `px1:compact:${id}`,
      },
      [user(NOTE), user('and?')],
    ];
  },
  'openai-chat': () => {
    const called = { id: 'c1', type: 'function', function: { name: 'note', arguments: '{}' } };
    return [
      {
        model: 'm1',
        stream: true,
        messages: [
          { role: 'system', content: COMPACTION_PROMPT },
          { role: 'user', content: 'hello' },
          { role: 'assistant', content: null, tool_calls: [called] },
          { role: 'tool', tool_call_id: 'c1', content: 'noted ' },
          { role: 'assistant', content: 'Hi.' },
          { role: 'user', content: ASK },
        ],
        stream_options: { include_usage: true },
      },
      [{ role: 'user', content: `${NOTE}\n\nand?` }],
    ];
  },
};

for (const dialect of HTTP_DIALECTS) {
  test(`[COMP1] [COMP2] [PROV12] ${dialect}: what is sent for a summary and after it, byte for byte`, async () => {
    await using rig = await httpRig(dialect);
    await using w = await world({ provider: rig.provider });
    const { id } = await start(w.runtime, LOCAL, { workspace: w.dir });
    rig.will(call('c1', 'note', {}));
    rig.will(message('Hi.'));
    rig.will(message('What was said.'));
    rig.will(message('Yes.'));
    const prompts = [['hello'], ['/compact the plan', 'the plan'], ['and?']] as const;
    for (const [index, [text, compact]] of prompts.entries())
      await (await sendText(w, id, text, { turnId: `t${index}`, compact })).done;
    const [forSummary, after] = BODIES[dialect](id);
    assert.equal(JSON.stringify(rig.fake.requests[2]?.body), JSON.stringify(forSummary));
    const { input, messages } = rig.fake.requests[3]?.body ?? {};
    assert.deepEqual((input ?? messages).slice(1), after);
  });

  test(`[COMP5] [U23] ${dialect}: a conversation that the server finds too long is compacted, and the Turn goes on`, async () => {
    await using rig = await httpRig(dialect);
    await using w = await world({ provider: rig.provider });
    const { id } = await start(w.runtime, LOCAL, { workspace: w.dir });
    rig.will(message('Hi.'));
    rig.fake.respond(400, { error: { code: 'context_length_exceeded', message: 'too long' } });
    rig.will(message('What was said.'));
    rig.will(message('Yes.'));
    for (const turnId of ['t1', 't2']) await (await sendText(w, id, 'go', { turnId })).done;
    assert.ok((await w.types(id)).includes('history_compacted'));
    const [end] = (await w.events(id)).slice(-1);
    assert.equal(end?.type === 'turn_finished' && end.data.outcome, 'completed');
  });
}

test('[COMP2] [PROV17] the demonstration sums up from the history alone', () => {
  const asks = (text: string) => ({ type: 'user' as const, content: [{ type: 'text' as const, text }] });
  const used = { type: 'tool_call' as const, callId: 'c1', name: 'list', args: {} };
  const history = [
    asks('Mend it.\nNow.'),
    used,
    { type: 'tool_result' as const, callId: 'c1', output: 'x' },
    asks('ask'),
  ];
  const request = { ...USER_ASKS, instructions: COMPACTION_PROMPT, history, tools: [] };
  const said = demonstrate(request).flatMap((step) => (step.type === 'message' ? [step.text] : []));
  assert.deepEqual(said, ['There is no model here that could sum anything up.\n\nPrompts:\n- Mend it.\n\nTools: list']);
});
