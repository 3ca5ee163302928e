import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { Json } from '../../src/core/event.ts';
import type { HistoryItem, ProviderEvent, ProviderRequest } from '../../src/core/provider.ts';
import { playgroundFiles } from '../../src/providers/playground.ts';
import { createScripted } from '../../src/providers/scripted.ts';
import { demonstrate } from '../../src/providers/scripted-demo.ts';
import { answerOf, USER_ASKS } from '../contracts/provider.ts';
import { tempDir } from '../support/temp-dir.ts';

type Call = Extract<ProviderEvent, { type: 'tool_call' }>;
type Tools = (call: Call) => Promise<string> | string;

const TOOLS = ['read', 'write', 'edit', 'bash', 'list', 'update_plan'].map((name) => {
  return { name, description: name, parameters: {} };
});
const asks = (text: string): HistoryItem => ({ type: 'user', content: [{ type: 'text', text }] });

interface Told {
  history: HistoryItem[];
  text: string;
  used: string[];
  plans: Json[];
}

/** Runs one Turn as the runtime would, with the tools given. */
async function tell(prompt: string, use: Tools, before: HistoryItem[] = [], tools = TOOLS): Promise<Told> {
  const provider = createScripted();
  const told: Told = { history: [...before, asks(prompt)], text: '', used: [], plans: [] };
  for (let rounds = 0; rounds < 12; rounds += 1) {
    const request: ProviderRequest = { ...USER_ASKS, tools, history: [...told.history] };
    const events = await answerOf(provider, request);
    assert.deepEqual(await answerOf(provider, request), events, 'the same history gives the same answer');
    for (const event of events)
      if (event.type === 'message') told.history.push({ type: 'assistant', text: event.text });
    const calls = events.filter((event) => event.type === 'tool_call');
    told.text = told.history.map((item) => (item.type === 'assistant' ? item.text : '')).join('\n');
    if (calls.length === 0) return told;
    for (const call of calls) {
      told.used.push(call.name);
      if (call.name === 'update_plan') told.plans.push(call.args);
      const output = await use(call);
      told.history.push({ type: 'tool_call', callId: call.callId, name: call.name, args: call.args });
      told.history.push({ type: 'tool_result', callId: call.callId, output });
    }
  }
  throw new assert.AssertionError({ message: 'the story has no end' });
}

const run = promisify(execFile);

/** The tools as far as the story needs them, on real files. */
function toolsIn(directory: string, refused: string[] = []): Tools {
  return async ({ name, args }) => {
    const given = args as Record<string, string>;
    const file = join(directory, given.path ?? '');
    if (refused.includes(name)) return `permission denied: ${name} is not allowed`;
    if (name === 'list') return Object.keys(playgroundFiles).join('\n');
    if (name === 'read') return readFile(file, 'utf8');
    if (name === 'update_plan') return 'plan set';
    if (name === 'bash') {
      const [, ...operands] = (given.command ?? '').split(' ');
      return run(process.execPath, operands, { cwd: directory }).then(
        ({ stdout }) => stdout,
        (error) => `${error.stdout}${error.stderr}`,
      );
    }
    const text = await readFile(file, 'utf8');
    assert.equal(text.split(given.old_string ?? '').length, 2, 'what is edited occurs exactly once');
    await writeFile(file, text.replace(given.old_string ?? '', given.new_string ?? ''));
    return 'edited';
  };
}

async function playground() {
  const directory = await tempDir();
  for (const [name, text] of Object.entries(playgroundFiles)) await writeFile(join(directory.path, name), text);
  return directory;
}

test('[PROV18] the story: look, plan, read, see the test fail, mend, see it pass, say so', async () => {
  await using directory = await playground();
  const { text, used, plans } = await tell('Please mend it.', toolsIn(directory.path));
  assert.deepEqual(
    used.filter((name) => name !== 'update_plan'),
    ['list', 'read', 'bash', 'edit', 'bash'],
  );
  assert.equal(plans.length, 4);
  assert.match(JSON.stringify(plans.at(-1)), /^(?!.*(pending|in_progress))/);
  assert.match(text, /## Done/);
  assert.match(text, /one character mended it/);
});

test('[PROV18] the first answer says that there is no model and how to set one; later ones are short', async () => {
  await using directory = await playground();
  const first = await tell('Hello.', toolsIn(directory.path));
  const [introduction] = first.history.filter((item) => item.type === 'assistant');
  for (const word of [/scripted demonstration/, /no model/, /OPENAI_API_KEY/, /OPENAI_BASE_URL/, /PIXIR_PROVIDER/]) {
    assert.match(introduction?.text ?? '', word);
  }
  const second = await tell('Again.', toolsIn(directory.path), first.history);
  assert.deepEqual(second.used.includes('edit'), false);
  assert.match(second.text, /Again without a model/);
  assert.match(second.text, /nothing to mend/);
  const ids = second.history.flatMap((item) => (item.type === 'tool_call' ? [item.callId] : []));
  assert.equal(new Set(ids).size, ids.length, 'every call of the Session has an id of its own');
});

test('[PROV18] what is refused is said, and nothing is claimed', async () => {
  await using directory = await playground();
  const noEdit = await tell('Hello.', toolsIn(directory.path, ['edit']));
  assert.match(noEdit.text, /still fails.*permission denied: edit/s);
  const noShell = await tell('Hello.', toolsIn(directory.path, ['bash']));
  assert.match(noShell.text, /could not run.*permission denied: bash/s);
  assert.doesNotMatch(noEdit.text + noShell.text, /## Done/);
});

test('[PROV18] outside the sample project it only looks, says so, and touches nothing', async () => {
  const listing = Array.from({ length: 30 }, (_, index) => `file${index}.ts`).join('\n');
  const elsewhere = await tell('Mend my code.', ({ name }) => (name === 'list' ? listing : assert.fail(name)));
  assert.deepEqual(elsewhere.used, ['list']);
  assert.match(elsewhere.text, /file19\.ts\n… and 10 more\n```/);
  assert.match(elsewhere.text, /OPENAI_API_KEY/);
  const own = await tell('Hello.', ({ name }) => (name === 'list' ? 'sum.mjs\nsum.test.mjs' : 'export const sum = 1;'));
  assert.deepEqual(own.used, ['list', 'update_plan', 'read']);
  assert.match(own.text, /not mine, so I leave it alone/);
});

test('[PROV18] a Session without the tools gets an honest answer too', async () => {
  const told = await tell('Hello.', () => assert.fail(), [], []);
  assert.match(told.text, /too few tools/);
  assert.match((await tell('bash ls', () => assert.fail(), [], [])).text, /no tool `bash`/);
});

test('[PROV17] the prompts for checks do one exact thing', async () => {
  const seen: Call[] = [];
  const tools: Tools = (call) => {
    seen.push(call);
    return 'first ``` line\nsecond';
  };
  assert.equal((await tell('echo  two  words', tools)).text.trim(), 'two  words');
  assert.match((await tell('write notes/a.txt hello\nthere', tools)).text, /^Done: first ``` line$/m);
  assert.match((await tell('bash ls -la && pwd', tools)).text, /````\nfirst ``` line\nsecond\n````/);
  assert.deepEqual(
    seen.map(({ name, args }) => [name, args]),
    [
      ['write', { path: 'notes/a.txt', content: 'hello\nthere' }],
      ['bash', { command: 'ls -la && pwd' }],
    ],
  );
  const hangs = demonstrate({ ...USER_ASKS, history: [asks('hang')] });
  assert.deepEqual(hangs.at(-1), { type: 'hang' });
  assert.ok(hangs.length > 1);
});

test('[PROV3] [PROV17] `hang` waits until it is stopped', async () => {
  const stop = new AbortController();
  const reason = new Error('enough');
  const events = createScripted().stream({ ...USER_ASKS, history: [asks('hang')] }, stop.signal);
  await assert.rejects(
    async () => {
      for await (const event of events) if (event.type === 'delta' && event.text === 'me') stop.abort(reason);
    },
    (error) => error === reason,
  );
});
