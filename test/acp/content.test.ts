import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assertInside, promptSchema, wireBlock } from '../../src/acp/content.ts';
import { base64, imageBlock, png } from '../support/images.ts';

const MIB = 2 ** 20;
const takes = (...blocks: unknown[]) => promptSchema.safeParse(blocks).success;
const text = (value: string) => ({ type: 'resource', resource: { uri: 'x:1', text: value } });
const blob = (bytes: Uint8Array) => ({ type: 'resource', resource: { uri: 'x:1', blob: base64(bytes) } });

/** What a client is shown of what another one sent. */
function echoed(block: unknown): unknown {
  const { content, blobs } = promptSchema.parse([block]);
  return content.map((stored) => wireBlock(stored, blobs))[0];
}

test('[CONT1] whatever is taken is shown again exactly as it came', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'binary' }), (bytes, words) => {
      for (const block of [imageBlock(png(String(bytes))), blob(bytes), text(words), text(`\uFEFF${words}`)])
        assert.deepEqual(echoed(block), block);
    }),
  );
  assert.deepEqual(echoed({ ...imageBlock(png()), uri: null, annotations: { priority: 1 } }), imageBlock(png()));
});

test('[CONT2] base64 is canonical or refused: no change of it goes unnoticed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(), fc.string({ maxLength: 3 }), (bytes, seed, noise) => {
      const good = base64(png(String(bytes)));
      const at = seed % (good.length + 1);
      for (const cut of [0, 1, 2]) {
        const data = good.slice(0, at) + noise + good.slice(at + cut);
        const block = { type: 'image', data, mimeType: 'image/png' };
        if (takes(block)) assert.deepEqual(echoed(block), block);
      }
    }),
  );
  const data = base64(png('ab'));
  for (const other of [
    `${data}\n`,
    ` ${data}`,
    `${data}=`,
    data.slice(0, -1),
    data.replace('K', '-'),
    `${data}AAAA`.slice(1),
  ])
    assert.ok(!takes({ type: 'image', data: other, mimeType: 'image/png' }), other);
  assert.ok(!takes({ type: 'resource', resource: { uri: 'x:1', blob: 'AB==' } }), 'bits that no byte holds');
});

const SAMPLES = {
  'image/png': png(),
  'image/jpeg': Buffer.from('ffd8ffe000104a464946', 'hex'),
  'image/gif': Buffer.from('GIF89a and more'),
  'image/webp': Buffer.from('RIFF\x01\x02\x03\x04WEBPVP8 '),
};

test('[CONT2] an image begins as its type says, bit for bit', () => {
  for (const [type, bytes] of Object.entries(SAMPLES)) {
    for (const mimeType of Object.keys(SAMPLES)) assert.equal(takes(imageBlock(bytes, mimeType)), mimeType === type);
    for (const mimeType of ['', 'image/*', type.toUpperCase(), ` ${type}`, `${type};x`, 'image/svg+xml', 'text/html'])
      assert.ok(!takes(imageBlock(bytes, mimeType)), mimeType);
    assert.ok(!takes(imageBlock(Buffer.concat([Buffer.from('<'), bytes]), type)));
    assert.ok(!takes(imageBlock(bytes.subarray(0, 2), type)));
    for (const bit of [0, 9, 17]) {
      const bent = Uint8Array.from(bytes);
      bent[bit >> 3] = (bent[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.ok(!takes(imageBlock(bent, type)), `${type} with bit ${bit} flipped`);
    }
  }
  assert.ok(takes(imageBlock(Buffer.from('GIF87a'), 'image/gif')));
  assert.ok(!takes(imageBlock(Buffer.from('GIF88a'), 'image/gif')));
});

test('[CONT2] limits are exact: of one image, of one resource, of a prompt', () => {
  const eight = Buffer.byteLength('\x89PNG\r\n\x1a\n', 'latin1');
  assert.ok(takes(imageBlock(png(10 * MIB - eight))));
  assert.ok(!takes(imageBlock(png(10 * MIB - eight + 1))));
  assert.ok(takes(blob(Buffer.alloc(4 * MIB))) && takes(text('a'.repeat(4 * MIB))) && takes(text('é'.repeat(2 * MIB))));
  assert.ok(!takes(blob(Buffer.alloc(4 * MIB + 1))) && !takes(text('a'.repeat(4 * MIB + 1))));
  assert.ok(!takes(text(`${'é'.repeat(2 * MIB)}a`)), 'bytes count, not characters');
  const four = blob(Buffer.alloc(4 * MIB));
  assert.ok(takes(four, four, four, four) && !takes(four, four, four, four, text('a')));
  const twenty = Array.from({ length: 20 }, (_, n) => imageBlock(png(String(n))));
  assert.ok(takes({ type: 'text', text: 'x' }, ...twenty) && !takes(...twenty, text('one more')));
});

test('[CONT2] text that has no UTF-8 is refused, and so is a block without its members', () => {
  assert.ok(!takes(text('half \ud83d')));
  for (const block of [
    { type: 'image' },
    { type: 'resource' },
    { type: 'resource', resource: { text: 'x' } },
    null,
    'x',
    {},
  ])
    assert.ok(!takes(block), JSON.stringify(block));
  assert.ok(!takes({ type: 'text', text: ' ' }) && !takes());
  assert.ok(takes(imageBlock(png())), 'an image alone is a prompt');
});

test('[CONT3] a file:// URI leads into the workspace or is refused, however it is spelled', async () => {
  const link = (uri: string) => [{ type: 'resource_link' as const, uri, name: 'x' }];
  // As the system has it: the empty path is where the process works, and that may well be the workspace.
  const nowhere = async (directory: string) => {
    if (directory === '' || directory === '.') return '/w/app';
    throw new Error('no such directory');
  };
  const inside = (uri: string, root = '/w/app', realPath: (directory: string) => Promise<string> = nowhere) =>
    assertInside(link(uri), [root], realPath).then(
      () => true,
      () => false,
    );
  for (const uri of [
    'file:///w/app',
    'file:///w/app/',
    'file:///w/app/a%20b.ts?x#../..',
    'file:///w/app/x/../y',
    'file:///w/./app/%2e%2e/app/a',
    'file:/w/app/a',
    'FILE:///w/app/a',
    'file://localhost/w/app/a',
    'https://example.com/etc/passwd',
    'untitled:/etc/passwd',
    'src/a.ts',
    '',
  ])
    assert.ok(await inside(uri), uri);
  for (const uri of [
    'file:///w',
    'file:///w/apple/a',
    'file:///etc/passwd',
    'file:///passwd',
    'file:///w/app/../../etc/passwd',
    'file:///w/app/%2e%2e/%2E./etc/passwd',
    'file:///w/app/..%2f..%2fetc/passwd',
    'file:///w/app/..%5c..',
    'file:///w/app\\..\\..\\etc',
    'file:///w/app/a%00.ts',
    'file:///w/app/a\0.ts',
    'file:///w/app/%zz',
    'file:///w/app/%ff',
    'file://evil/w/app/a',
    'file://evil@/w/app/a',
    ' fi\nle://evil@/w/app/a',
    'file://w/app/a',
    '//w/app/../../etc/passwd'.replace(/^/, 'file:'),
    ' file:///etc/passwd',
    'fi\nle:///etc/passwd',
    'file:etc/passwd',
    'file:',
    'file:///W/app/a',
  ])
    assert.ok(!(await inside(uri)), JSON.stringify(uri));
  assert.ok(await inside('file:///C:/w/app/a', 'C:\\w\\app'));
  assert.ok(!(await inside('file:///C:/w/app/../x', 'C:\\w\\app')));
  assert.ok(await inside('file:///tmp/w/a', '/private/tmp/w', async (directory) => `/private${directory}`));
  assert.ok(!(await inside('file:///etc/passwd', '/w/app', async (directory) => directory)));
});
