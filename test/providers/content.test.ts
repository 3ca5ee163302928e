import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blobHash } from '../../src/core/blobs.ts';
import type { ContentBlock } from '../../src/core/event.ts';
import type { HistoryItem, ProviderRequest } from '../../src/core/provider.ts';
import { chatBody } from '../../src/providers/openai-chat-input.ts';
import { responsesBody } from '../../src/providers/openai-input.ts';
import { createScripted } from '../../src/providers/scripted.ts';
import { answerOf, USER_ASKS } from '../contracts/provider.ts';
import { base64, png } from '../support/images.ts';
import { HTTP_DIALECTS, httpRig } from './rigs.ts';

const NOTHING: ReadonlySet<string> = new Set();
const IMAGE = png('cat');
const NOTE = Buffer.from('let a = 1;\n');
const image = (bytes: Uint8Array, uri?: string): ContentBlock => {
  const where = uri === undefined ? {} : { uri };
  return { type: 'image', hash: blobHash(bytes), mimeType: 'image/png', size: bytes.length, ...where };
};
const resource = (bytes: Uint8Array, encoding: 'text' | 'base64'): ContentBlock => {
  const size = bytes.length;
  return { type: 'resource', uri: 'file:///w/a\n.ts', mimeType: 'text/x', hash: blobHash(bytes), size, encoding };
};
const user = (...content: ContentBlock[]): HistoryItem => ({ type: 'user', content });
const text = (said: string): ContentBlock => ({ type: 'text', text: said });

function asking(...history: HistoryItem[]): ProviderRequest {
  const blobs = new Map([IMAGE, NOTE].map((bytes) => [blobHash(bytes), bytes]));
  return { ...USER_ASKS, developerContext: '', instructions: '', history, blobs };
}

const PROMPT = user(
  text('Look:'),
  image(IMAGE),
  resource(NOTE, 'text'),
  resource(NOTE, 'base64'),
  image(png('lost'), 'file:///w/lost.png'),
);
const URL_OF_IMAGE = `data:image/png;base64,${base64(IMAGE)}`;
const TEXTS = [
  '[Attached: file:///w/a .ts, text/x]\nlet a = 1;\n',
  '[Attached: file:///w/a .ts, text/x, 11 bytes, not shown]',
  '[Attached: file:///w/lost.png, image/png, 12 bytes, not shown]',
];

test('[PROV12] [CONT7] Responses: an image is a data URL, a resource is text below a line that names it', () => {
  assert.equal(
    JSON.stringify(responsesBody(asking(PROMPT), NOTHING).input),
    `[{"type":"message","role":"user","content":[{"type":"input_text","text":"Look:"},` +
      `{"type":"input_image","image_url":"${URL_OF_IMAGE}","detail":"auto"},` +
      `${TEXTS.map((said) => JSON.stringify({ type: 'input_text', text: said })).join()}]}]`,
  );
});

test('[PROV12] [CONT7] Chat: the same, in parts only where there is an image', () => {
  assert.equal(
    JSON.stringify(chatBody(asking(PROMPT), NOTHING).messages),
    `[{"role":"user","content":[{"type":"text","text":"Look:"},` +
      `{"type":"image_url","image_url":{"url":"${URL_OF_IMAGE}"}},` +
      `${TEXTS.map((said) => JSON.stringify({ type: 'text', text: said })).join()}]}]`,
  );
  const plain = user(text('a'), resource(NOTE, 'text'), image(png('lost')));
  assert.deepEqual(chatBody(asking(plain), NOTHING).messages, [
    { role: 'user', content: `a\n${TEXTS[0]}\n[Attached: image/png, 12 bytes, not shown]` },
  ]);
});

test('[PROV15] [CONT7] Chat: neighbours become one message also where one of them has an image', () => {
  const parts = (...history: HistoryItem[]) => chatBody(asking(...history), NOTHING).messages;
  const seen = { type: 'image_url', image_url: { url: URL_OF_IMAGE } };
  const [a, b] = ['a', 'b'].map((said) => ({ type: 'text', text: said }));
  assert.deepEqual(parts(user(text('a')), user(image(IMAGE))), [{ role: 'user', content: [a, seen] }]);
  assert.deepEqual(parts(user(image(IMAGE)), user(text('b'))), [{ role: 'user', content: [seen, b] }]);
  assert.deepEqual(parts(user(image(IMAGE)), user(image(IMAGE))), [{ role: 'user', content: [seen, seen] }]);
  assert.equal(parts(user(image(IMAGE)), { type: 'assistant', text: 'a' }, user(text('b'))).length, 3);
});

for (const dialect of HTTP_DIALECTS) {
  test(`[CONT7] ${dialect}: a prompt with an image is accepted by a strict server`, async () => {
    await using rig = await httpRig(dialect);
    await answerOf(rig.provider, asking(PROMPT, user(text('And?'))));
    assert.ok(JSON.stringify(rig.fake.requests[0]?.body).includes(URL_OF_IMAGE));
  });
}

test('[PROV18] [CONT7] the demonstration says how many images it was shown, and does not pretend to see them', async () => {
  const said = async (...content: ContentBlock[]) => {
    const events = await answerOf(createScripted(), asking(user(...content)));
    return events.flatMap((event) => (event.type === 'message' ? [event.text] : [])).join();
  };
  assert.match(await said(text('echo x'), image(IMAGE)), /shown 1 image;/);
  assert.match(await said(image(IMAGE), image(IMAGE), image(png('lost'))), /shown 2 images;/);
  assert.equal(await said(text('echo x'), image(png('lost'))), 'x');
});
