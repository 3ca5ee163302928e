import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { call, finish, say, think } from '../../src/providers/script.ts';
import { selected, streaming } from '../contracts/agent/stage.ts';
import { Follower } from '../support/follower.ts';
import type { Update, WireClient } from '../support/wire-client.ts';
import { type World, type WorldOptions, world } from '../support/world.ts';
import { cutWhen, type Editor, editorOf } from './bridge-support.ts';

/** What a person sees, in order: ids, times and the size of the pieces are not part of it. */
function visible({ frames }: WireClient): string[] {
  const shown: string[] = [];
  let last: unknown;
  for (const { id, method, params, result, error } of frames) {
    const { sessionUpdate, messageId, content, updatedAt: _, ...rest } = (params?.update ?? {}) as Update;
    const text = (content as { text?: string } | undefined)?.text;
    if (messageId !== undefined && messageId === last) shown.push(`${shown.pop()}${text}`);
    else if (messageId !== undefined) shown.push(`${sessionUpdate}: ${text}`);
    else if (method === 'session/update') shown.push(JSON.stringify([sessionUpdate, content, rest]));
    else if (method !== undefined) shown.push(`${method} ${id}`);
    else shown.push(`answer ${id} ${JSON.stringify(result?.stopReason ?? error ?? '')}`);
    last = messageId;
  }
  return shown;
}

/** Text, thoughts, a plan, tools, an approval, and a second Turn. */
const rich = (): WorldOptions => ({
  settings: { permissionCeiling: 'ask' },
  script: [
    [...think('Let me think about it.'), ...say('First I look around. '), call('c1', 'note', { text: 'a' }), finish()],
    [...say('Now a plan. '), call('c2', 'planner', { text: 'step' }), call('c3', 'poke', { text: 'x' }), finish()],
    [...think('Good.'), ...say('All of it is done.'), finish()],
    [...say('And a second Turn.'), finish()],
  ],
});

async function converse(prepare: (editor: Editor) => () => number) {
  await using w = await world(rich());
  const editor = editorOf(w);
  const { client } = editor;
  const frames = prepare(editor);
  client.onPermission = () => selected('allow');
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  for (const text of ['one', 'two']) await client.prompt(sessionId, text);
  const types = await w.types(sessionId);
  client.close();
  client.assertSound();
  assert.deepEqual([existsSync(join(w.dir, 'poked')), editor.refused], [true, []]);
  return { shown: visible(client), types, frames: frames(), connections: editor.net.connections };
}

for (const direction of ['in', 'out'] as const) {
  test(`[BRIDGE3] cut at every single frame (${direction}): the editor is shown all of it once, and each prompt ran once`, async () => {
    const whole = await converse((editor) => cutWhen(editor, direction, () => false));
    assert.ok(whole.shown.includes('agent_message_chunk: All of it is done.') && whole.connections === 1);
    for (let at = 1; at <= whole.frames; at++) {
      const cut = await converse((editor) => cutWhen(editor, direction, (frame) => frame === at));
      assert.equal(cut.connections, 2);
      assert.deepEqual(cut.shown, whole.shown, `cut at ${at}`);
      assert.deepEqual(cut.types, whole.types, `cut at ${at}`);
    }
  });
}

test('[BRIDGE3] cut again and again, the editor still gets everything once', async () => {
  const whole = await converse((editor) => cutWhen(editor, 'in', () => false));
  for (let every = 1; every < 12; every++) {
    let next = every;
    let cuts = 0;
    const often = (frame: number) => {
      if (frame < next) return false;
      cuts++;
      // Each connection gets further than the last, or coming back would be all that happens.
      next = frame + every + Math.floor(cuts / 4);
      return true;
    };
    const cut = await converse((editor) => cutWhen(editor, 'in', often));
    assert.ok(cut.connections > 3);
    assert.deepEqual([cut.shown, cut.types], [whole.shown, whole.types], `cut every ${every}`);
  }
});

/** A Session with a message of several blocks, and another Turn that waits in the middle of a sentence. */
async function past(w: World) {
  const client = await w.client();
  const sessionId = await client.newSession(w.dir);
  const prompt = ['one ', 'two ', 'three'].map((text) => ({ type: 'text', text }));
  await client.request('session/prompt', { sessionId, prompt });
  const turn = client.prompt(sessionId, 'go');
  await client.update(({ content }) => (content as { text?: string })?.text === 'Half a ');
  return { sessionId, turn };
}

async function load(prepare: (editor: Editor) => () => number) {
  const { script = [] } = rich();
  await using w = await world({ script: [...(script as []).slice(0, 3), ...streaming().script] });
  const { sessionId, turn } = await past(w);
  const editor = editorOf(w);
  const { client } = editor;
  const frames = prepare(editor);
  await client.initialize();
  const loaded = await client.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  w.provider.open('go');
  await turn;
  await client.update(({ content }) => (content as { text?: string })?.text?.endsWith('sentence.') ?? false);
  client.close();
  client.assertSound();
  return { shown: visible(client), loaded, frames: frames(), connections: editor.net.connections };
}

test('[BRIDGE4] a load that is cut goes on where it was, and is answered when all of it has been shown', async () => {
  const whole = await load((editor) => cutWhen(editor, 'in', () => false));
  const user = whole.shown.filter((line) => line.startsWith('user_message_chunk'));
  assert.deepEqual(user, ['user_message_chunk: one two three', 'user_message_chunk: go']);
  for (let at = 1; at <= whole.frames; at++) {
    const cut = await load((editor) => cutWhen(editor, 'in', (frame) => frame === at));
    assert.deepEqual([cut.connections, cut.shown, cut.loaded], [2, whole.shown, whole.loaded], `cut at ${at}`);
  }
});

test('[BRIDGE4] loaded once more, the Session is shown from the beginning, whatever is cut', async () => {
  const again = async (at: number) => {
    await using w = await world({ script: [[...say('Hello there.'), finish()]] });
    const editor = editorOf(w);
    const { client } = editor;
    await client.initialize();
    const sessionId = await client.newSession(w.dir);
    await client.prompt(sessionId, 'hi');
    const before = client.frames.length;
    const frames = cutWhen(editor, 'in', (frame) => frame === at);
    const bad = client.request('session/load', { sessionId, cwd: '/', mcpServers: [] });
    await assert.rejects(bad);
    await client.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
    client.assertSound();
    return { shown: visible(client).slice(before - 1), frames: frames() };
  };
  const whole = await again(0);
  assert.deepEqual(whole.shown.slice(-4), [
    'user_message_chunk: hi',
    'agent_message_chunk: Hello there.',
    '["session_info_update",null,{"title":"hi"}]',
    'answer 5 ""',
  ]);
  for (let at = 1; at <= whole.frames; at++) assert.deepEqual((await again(at)).shown, whole.shown, `cut at ${at}`);
});

test('[BRIDGE4] loaded while its own prompt is running, the prompt is shown, as it is without a bridge', async () => {
  await using w = await world(streaming());
  const { client } = editorOf(w);
  await client.initialize();
  const sessionId = await client.newSession(w.dir);
  const prompt = client.prompt(sessionId, 'go');
  await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
  const before = client.updates().length;
  await client.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  const kinds = client
    .updates()
    .slice(before)
    .map(({ sessionUpdate }) => sessionUpdate);
  assert.deepEqual(kinds, ['user_message_chunk', 'agent_message_chunk']);
  w.provider.open('go');
  await prompt;
  assert.equal(client.text(), 'Half a Half a sentence.');
  client.assertSound();
});

async function follow(prepare: (editor: Editor) => () => number) {
  const { script } = rich();
  await using w = await world({ ...(script ? { script } : {}) });
  const editor = editorOf(w);
  const { client } = editor;
  const frames = prepare(editor);
  await client.initialize({ _meta: { pixir: { cursor: 1 } } });
  const follower = new Follower(await client.newSession(w.dir));
  client.onFrame = (frame) => follower.apply(frame);
  await follower.attach(client);
  for (const text of ['one', 'two']) await client.prompt(follower.sessionId, text);
  client.assertSound();
  return { shown: follower.visible(), frames: frames() };
}

test('[BRIDGE3] an editor that asked for cursors gets them, and misses nothing either', async () => {
  const whole = await follow((editor) => cutWhen(editor, 'in', () => false));
  assert.ok(whole.shown.includes('agent_message_chunk: All of it is done.'));
  assert.ok(!whole.shown.some((line) => line.startsWith('user_message_chunk')));
  for (let at = 1; at <= whole.frames; at++) {
    const cut = await follow((editor) => cutWhen(editor, 'in', (frame) => frame === at));
    assert.deepEqual(cut.shown, whole.shown, `cut at ${at}`);
  }
});
