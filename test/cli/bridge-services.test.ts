/** What an editor offers goes through the bridge, over cuts too, and no terminal of it is left behind. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTools } from '../../src/tools/index.ts';
import { ALL, editorAt, SILENCE, turnOf } from '../acp/services-support.ts';
import { type World, world } from '../support/world.ts';
import { comesBack, editorOf } from './bridge-support.ts';

const BASH = ['bash', { command: 'touch ran' }] as const;
const READ = ['read', { path: 'a.txt' }] as const;
const CREATE = 'terminal/create';
const WAIT = 'terminal/wait_for_exit';
const RELEASE = 'terminal/release';

async function bridged(w: World) {
  const behind = editorOf(w, { slowly: true });
  const editor = await editorAt(behind.client, ALL);
  await writeFile(join(w.dir, 'a.txt'), 'saved\n');
  const sessionId = await editor.client.newSession(w.dir);
  Object.assign(editor.answers, {
    'fs/read_text_file': () => ({ content: 'unsaved\n' }),
    [CREATE]: () => ({ terminalId: 'term' }),
    [WAIT]: () => ({ exitCode: 0 }),
    'terminal/output': () => ({ output: 'there\n', truncated: false }),
    [RELEASE]: () => ({}),
    'elicitation/create': () => ({ action: 'accept', content: { answer: 'blue' } }),
  });
  const outputs = async () =>
    (await w.events(sessionId)).flatMap(({ type, data }) =>
      type === 'tool_result' ? [data.error?.kind ?? data.output] : [],
    );
  return { ...editor, ...behind, sessionId, outputs, go: () => editor.client.prompt(sessionId, 'go') };
}

const worldOf = (...calls: Parameters<typeof turnOf>[0][]) =>
  world({ script: calls.flatMap(turnOf), tools: createTools({ env: { PATH: process.env.PATH } }) });

test('[BRIDGE7] what the editor offers the server uses through the bridge, before a cut and after it', async () => {
  const calls = [READ, BASH, ['ask_user', { question: 'Which?' }]] as const;
  await using w = await worldOf(calls, calls);
  const e = await bridged(w);
  await e.go();
  e.net.cut();
  await comesBack(w, e);
  await e.go();
  assert.deepEqual(await e.outputs(), ['unsaved\n', 'there\n', 'blue', 'unsaved\n', 'there\n', 'blue']);
  const once = ['fs/read_text_file', CREATE, 'embedded', WAIT, 'terminal/output', RELEASE, 'elicitation/create'];
  assert.deepEqual(e.asked, [...once, ...once]);
  e.client.assertSound();
});

test('[BRIDGE12] a terminal that a cut takes from its server is released by the bridge', async () => {
  await using w = await worldOf([BASH]);
  const e = await bridged(w);
  e.answers[WAIT] = () => SILENCE;
  const prompt = e.go();
  await e.request(WAIT);
  e.net.cut();
  const { params } = await e.request(RELEASE);
  assert.deepEqual(params, { sessionId: e.sessionId, terminalId: 'term' });
  await comesBack(w, e);
  assert.deepEqual(await prompt, { stopReason: 'end_turn' });
  assert.deepEqual([await e.outputs(), existsSync(join(w.dir, 'ran'))], [['outcome_unknown'], false]);
  assert.equal(e.params(RELEASE).length, 1);
  e.client.assertSound();
});

test('[BRIDGE12] so is one that the editor makes after the cut, and none twice', async () => {
  await using w = await worldOf([BASH], [BASH]);
  const e = await bridged(w);
  await e.go();
  e.net.cut();
  await comesBack(w, e);
  e.answers[CREATE] = () => SILENCE;
  const prompt = e.go();
  const creation = await e.client.next(({ method }) => method === CREATE);
  assert.equal(e.params(RELEASE).length, 1);
  e.net.cut();
  await comesBack(w, e);
  await prompt;
  e.answer(creation, { terminalId: 'second' });
  await e.client.request('logout', {});
  assert.deepEqual(
    e.params(RELEASE).map(({ terminalId }) => terminalId),
    ['term', 'second'],
  );
  e.client.assertSound();
});

test('[BRIDGE12] one that the editor makes although the server has given up is released by the server', async () => {
  await using w = await worldOf([BASH]);
  const e = await bridged(w);
  e.answers[CREATE] = () => SILENCE;
  const prompt = e.go();
  const creation = await e.request(CREATE);
  e.client.notify('session/cancel', { sessionId: e.sessionId });
  assert.deepEqual(await prompt, { stopReason: 'cancelled' });
  e.answer(creation, { terminalId: 'late' });
  await e.request(RELEASE);
  e.net.cut();
  await comesBack(w, e);
  await e.client.request('logout', {});
  assert.deepEqual(
    e.params(RELEASE).map(({ terminalId }) => terminalId),
    ['late'],
  );
  e.client.assertSound();
});
