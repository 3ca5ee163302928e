/** What a client has not offered it is never asked for; what it has belongs to its own prompts; and questions to the person. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { call, finish, say } from '../../src/providers/script.ts';
import { ALL, editorAt, REFUSED, SILENCE, type Sitting, sitting } from './services-support.ts';

const ASK = 'elicitation/create';
const EVERY_TOOL = [
  ['read', { path: 'a.txt' }],
  ['write', { path: 'b.txt', content: 'b' }],
  ['edit', { path: 'a.txt', old_string: 'one', new_string: '1' }],
  [
    'apply_patch',
    { patch: '*** Begin Patch\n*** Update File: a.txt\n-1\n+one\n*** Delete File: b.txt\n*** End Patch' },
  ],
  ['bash', { command: 'echo hi' }],
  ['list', { path: '.' }],
  ['glob', { pattern: '*' }],
  ['grep', { pattern: 'one' }],
  ['update_plan', { entries: [{ content: 'x' }] }],
  ['ask_user', { question: 'Which one?' }],
] as const;

/** All tools, one after the other, for a client that says this of itself; whatever it is asked it refuses. */
async function everyTool(capabilities: unknown) {
  await using s = await sitting(capabilities, EVERY_TOOL);
  await writeFile(join(s.w.dir, 'a.txt'), 'one\n');
  await s.go();
  const results = await Promise.all(EVERY_TOOL.map((_, index) => s.result(index)));
  const told = s.w.provider.requests[0]?.tools.map(({ name }) => name) ?? [];
  return { asked: s.asked, told, results, said: JSON.stringify(capabilities) };
}

test('[CLS1] a client that offers nothing, in whatever words, is asked for nothing by any tool', async () => {
  const nothing = [
    undefined,
    null,
    {},
    { fs: {}, elicitation: {} },
    { fs: null, terminal: null, elicitation: null },
    { fs: { readTextFile: false, writeTextFile: false }, terminal: false, elicitation: { form: null, url: {} } },
    { elicitation: true },
    { elicitation: { form: true } },
    { elicitation: [{ form: {} }] },
    { fs: { read_text_file: true }, _meta: ALL },
  ];
  for (const capabilities of nothing) {
    const { asked, told, results, said } = await everyTool(capabilities);
    assert.deepEqual(asked, [], said);
    assert.ok(told.includes('read') && !told.includes('ask_user'), said);
    const failed = results.filter(({ ok }) => !ok);
    assert.deepEqual(
      failed.map(({ error }) => error?.kind),
      ['unknown_tool'],
      said,
    );
  }
});

test('[CLS1] of whatever a client offers it is asked for that and nothing else', async () => {
  const methods = {
    readTextFile: 'fs/read_text_file',
    writeTextFile: 'fs/write_text_file',
    terminal: 'terminal/create',
    form: ASK,
  };
  for (let bits = 0; bits < 16; bits++) {
    const [readTextFile, writeTextFile, terminal, form] = [1, 2, 4, 8].map((bit) => (bits & bit) > 0);
    const offered = { readTextFile, writeTextFile, terminal, form };
    const elicitation = form ? { form: {} } : {};
    const { asked, results } = await everyTool({ fs: { readTextFile, writeTextFile }, terminal, elicitation });
    const expected = Object.entries(methods).filter(([service]) => offered[service as keyof typeof offered]);
    assert.deepEqual([...new Set(asked)].sort(), expected.map(([, method]) => method).sort());
    // What it refuses is done here, but for a question that only the person can answer.
    assert.deepEqual(
      results.map(({ ok }) => ok),
      EVERY_TOOL.map(([tool]) => tool !== 'ask_user'),
    );
  }
});

test('[CLS1] a prompt uses what its own client offers, whoever else is attached, and nothing once that has gone', async () => {
  const read = (id: string) => [call(id, 'read', { path: 'a.txt' }), finish()];
  const done = [...say('Done.'), finish()];
  const script = [
    read('c1'),
    done,
    read('c2'),
    done,
    read('c3'),
    [{ type: 'wait', gate: 'go' } as const, ...read('c4')],
    done,
  ];
  await using s = await sitting(ALL, [], { script });
  await writeFile(join(s.w.dir, 'a.txt'), 'saved\n');
  s.answers['fs/read_text_file'] = () => ({ content: 'first' });
  const other = await editorAt(s.w.connect().client, {});
  await other.client.request('session/resume', { sessionId: s.sessionId, cwd: s.w.dir });
  await s.go();
  await other.client.prompt(s.sessionId, 'go');
  const third = s.go().catch(() => undefined);
  await s.client.update(({ toolCallId, status }) => toolCallId === 'c3' && status === 'completed');
  s.client.close();
  s.w.provider.open('go');
  await other.client.update(({ toolCallId, status }) => toolCallId === 'c4' && status === 'completed');
  await third;
  const outputs = await Promise.all([0, 1, 2, 3].map(async (index) => (await s.result(index)).output));
  assert.deepEqual(outputs, ['first', 'saved\n', 'first', 'saved\n']);
  assert.deepEqual(other.asked, []);
});

test('[CLS1] a Turn that a restart continues asks no client', async () => {
  const settings = { recovery: 'resume' as const };
  const half = [{ type: 'delta' as const, kind: 'message' as const, text: 'Half' }, { type: 'hang' as const }];
  await using s = await sitting(ALL, [], { settings, script: [half] });
  await writeFile(join(s.w.dir, 'a.txt'), 'saved\n');
  void s.go().catch(() => undefined);
  await s.client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
  const script = [
    [call('c1', 'read', { path: 'a.txt' }), finish()],
    [...say('Done.'), finish()],
  ];
  await using next = await s.w.restart({ script });
  const again = await editorAt(next.connect().client, ALL);
  await again.client.request('session/load', { sessionId: s.sessionId, cwd: s.w.dir, mcpServers: [] });
  await again.client.update(({ status }) => status === 'completed');
  assert.deepEqual(
    [again.asked, next.provider.requests[0]?.tools.some(({ name }) => name === 'ask_user')],
    [[], false],
  );
});

const question = { question: 'Which colour?\nBe honest.', options: ['red', 'blue'] };
const asking = (args: object = question) => sitting({ elicitation: { form: {} } }, [['ask_user', { ...args }]]);

test('[CLS8] a question is put to the person as a form of one field, and the answer is the model’s', async () => {
  for (const args of [question, { question: 'Which \u202ecolour?' }]) {
    await using s = await asking(args);
    s.answers[ASK] = () => ({ action: 'accept', content: { answer: 'blue' } });
    await s.go();
    const { options } = args as { options?: string[] };
    const answer = { type: 'string', title: 'Answer', ...(options && { enum: options }) };
    const requestedSchema = { type: 'object', properties: { answer }, required: ['answer'] };
    const { sessionId } = s;
    const expected = {
      sessionId,
      toolCallId: 'c1',
      mode: 'form',
      message: args.question.replace('\u202e', '\\u202e'),
      requestedSchema,
    };
    assert.deepEqual(s.params(ASK), [expected]);
    const { ok, output } = await s.result();
    assert.deepEqual([ok, output], [true, 'blue']);
  }
});

test('[CLS8] declined, left, refused, unreadable: the model is told, and nothing passes for an answer', async () => {
  const declined = [undefined, 'The user declined to answer.'];
  const garbled = ['outcome_unknown', 'the answer of the client cannot be read'];
  for (const [answer, expected] of [
    [{ action: 'decline' }, declined],
    [{ action: 'cancel' }, declined],
    [REFUSED, ['client_refused', 'the client refused']],
    [{ action: 'accept' }, garbled],
    [{ action: 'accept', content: null }, garbled],
    [{ action: 'accept', content: { answer: 'green' } }, garbled],
    [{ action: 'accept', content: { answer: 7 } }, garbled],
    [{ action: 'perhaps' }, garbled],
    [{}, garbled],
  ] as const) {
    await using s = await asking();
    s.answers[ASK] = () => answer;
    assert.deepEqual(await s.go(), { stopReason: 'end_turn' });
    const { ok, error, output } = (await s.result()) as {
      ok: boolean;
      error?: { kind: string; message: string };
      output: string;
    };
    assert.deepEqual([ok, error?.kind, error?.message ?? output], [false, ...expected]);
  }
});

test('[CLS8] an answer is bounded', async () => {
  await using s = await asking({ question: 'How long?' });
  s.answers[ASK] = () => ({ action: 'accept', content: { answer: 'x'.repeat(100_000) } });
  await s.go();
  assert.equal((await s.result()).output.length, 16_000);
});

for (const [how, end, kind] of [
  [
    'is cancelled with its Turn',
    (s: Sitting) => s.client.notify('session/cancel', { sessionId: s.sessionId }),
    'cancelled',
  ],
  ['waits as long as a permission', (s: Sitting) => s.w.clock.advance(60_000), 'timeout'],
  ['ends with the connection', (s: Sitting) => s.client.close(), 'outcome_unknown'],
] as const) {
  test(`[CLS8] a question ${how}, and a late answer changes nothing`, async () => {
    await using s = await asking();
    s.answers[ASK] = () => SILENCE;
    const prompt = s.go().catch(() => undefined);
    const request = await s.request(ASK);
    s.w.clock.advance(59_999);
    assert.equal(await s.result(), undefined);
    end(s);
    await prompt;
    while ((await s.w.types(s.sessionId)).at(-1) !== 'turn_finished') await new Promise(setImmediate);
    assert.equal((await s.result()).error?.kind, kind);
    if (kind === 'outcome_unknown') return;
    assert.deepEqual(s.asked, [ASK, '$/cancel_request']);
    const before = await s.w.events(s.sessionId);
    s.answer(request, { action: 'accept', content: { answer: 'blue' } });
    await s.client.request('logout', {});
    assert.deepEqual(await s.w.events(s.sessionId), before);
  });
}
