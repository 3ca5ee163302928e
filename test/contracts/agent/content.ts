import assert from 'node:assert/strict';
import { finish, say } from '../../../src/providers/script.ts';
import { imageBlock, png } from '../../support/images.ts';
import type { WireClient } from '../../support/wire-client.ts';
import { type On, rejects } from './stage.ts';

const ANSWER = [...say('Seen.'), finish()];
const IMAGE = imageBlock(png('of a cat'));
const TEXT = { type: 'resource', resource: { uri: 'note:1', mimeType: 'text/plain', text: '\uFEFFTänze \0 😀\r\n' } };
const BLOB = { type: 'resource', resource: { uri: 'note:2', blob: 'AAECAw==' } };
const PROMPT = [{ type: 'text', text: 'Look:' }, IMAGE, TEXT, BLOB, { ...IMAGE, uri: 'file:///elsewhere/cat.png' }];

const send = (client: WireClient, sessionId: string, prompt: unknown, _meta: unknown = {}) =>
  client.request('session/prompt', { sessionId, prompt, _meta });

const shown = (client: WireClient) =>
  client.updates().flatMap(({ sessionUpdate, content }) => (sessionUpdate === 'user_message_chunk' ? [content] : []));

export function content(on: On): void {
  on(
    '[B10] [CONT1] images and resources are shown again as they came: to others at once, on load, after a restart',
    { script: [ANSWER] },
    async ({ w, client, another, withCursors }) => {
      const sessionId = await client.newSession(w.dir);
      const watcher = await withCursors();
      await watcher.request('_pixir/session/attach', { sessionId });
      assert.deepEqual(await send(client, sessionId, PROMPT), { stopReason: 'end_turn' });
      await watcher.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
      assert.deepEqual(shown(client), [], 'who sent it has it');
      assert.deepEqual(shown(watcher), PROMPT);
      const next = await w.restart();
      for (const loader of [await another(), await next.client()]) {
        await loader.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
        assert.deepEqual(shown(loader), PROMPT);
        assert.equal(loader.text(), 'Seen.');
      }
    },
  );

  on('[B10] [CONT4] the Log names bytes and never holds them', { script: [ANSWER] }, async ({ w, client }) => {
    const sessionId = await client.newSession(w.dir);
    await send(client, sessionId, PROMPT);
    const recorded = JSON.stringify(await w.events(sessionId));
    for (const inside of [IMAGE.data, 'AAECAw==', 'Tänze']) assert.ok(!recorded.includes(inside));
    const asked = (await w.events(sessionId)).find(({ type }) => type === 'user_message');
    assert.ok(asked?.type === 'user_message');
    const [, image, text, , again] = asked.data.content;
    assert.ok(image?.type === 'image' && again?.type === 'image' && text?.type === 'resource');
    assert.deepEqual([image.hash, image.size], [again.hash, png('of a cat').length]);
    assert.deepEqual([text.encoding, text.size], ['text', Buffer.byteLength(TEXT.resource.text)]);
  });

  const bad: [string, unknown][] = [
    ['audio', { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }],
    ['an unknown block', { type: 'video', data: 'AAAA' }],
    ['an image of another type than it says', imageBlock(png(), 'image/jpeg')],
    ['an image of a type that models do not take', imageBlock(png(), 'image/svg+xml')],
    ['data that is not base64', { ...IMAGE, data: `${IMAGE.data}!` }],
    ['a resource with neither text nor bytes', { type: 'resource', resource: { uri: 'x' } }],
    ['a file elsewhere', { type: 'resource_link', uri: 'file:///etc/passwd', name: 'x' }],
  ];
  on('[CONT2] [CONT3] what is not what it says is refused, and nothing of it is kept', {}, async ({ w, client }) => {
    const sessionId = await client.newSession(w.dir);
    const kept = imageBlock(png('a good image beside a bad block'));
    for (const [what, block] of bad) {
      await rejects(send(client, sessionId, [kept, block]), -32602).catch((cause) => {
        throw new Error(what, { cause });
      });
    }
    assert.ok(!JSON.stringify(client.frames).includes('/etc/passwd'), 'nothing of a hostile value is echoed');
    assert.deepEqual(await w.types(sessionId), ['session_created']);
    assert.equal(await w.blob(kept.data), undefined);
  });

  on(
    '[CONT2] a prompt that is refused for any other reason stores nothing either',
    { script: [[{ type: 'wait', gate: 'go' }, ...ANSWER]] },
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      const running = client.prompt(sessionId, 'one');
      await rejects(send(client, sessionId, [IMAGE]), -32600, { reason: 'turn_in_progress' });
      await rejects(send(client, 'nobody', [IMAGE]), -32002);
      await rejects(send(client, sessionId, [IMAGE], { model: 'nope' }), -32602);
      assert.equal(await w.blob(IMAGE.data), undefined);
      w.provider.open('go');
      await running;
    },
  );

  on(
    '[CONT8] a prompt key covers the bytes: the same are the same prompt, others are another',
    { script: [ANSWER] },
    async ({ w, client }) => {
      const sessionId = await client.newSession(w.dir);
      const meta = { pixir: { promptKey: 'k' } };
      await send(client, sessionId, [IMAGE], meta);
      assert.deepEqual(await send(client, sessionId, [IMAGE], meta), { stopReason: 'end_turn' });
      const other = imageBlock(png('of a dog'));
      await rejects(send(client, sessionId, [other], meta), -32602, { reason: 'prompt_key_conflict' });
      assert.equal(await w.blob(other.data), undefined);
      assert.equal((await w.types(sessionId)).filter((type) => type === 'user_message').length, 1);
    },
  );
}
