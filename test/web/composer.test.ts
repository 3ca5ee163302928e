/** The composer's pure parts: completion at the caret, what a draft becomes, what may be attached, and how sizes and times read. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { imageTypeOf, noRoomFor, refusalOf, textIn } from '../../web/src/composer/attachments.ts';
import { insertion, isSendKey, matchCommands, triggerAt } from '../../web/src/composer/completion.ts';
import {
  type Attachment,
  blocksOf,
  EMPTY_DRAFT,
  isEmpty,
  isTooLargeToKeep,
  summaryOf,
  takenBack,
} from '../../web/src/composer/draft.ts';
import { bytesText, clockText, timeText } from '../../web/src/composer/format.ts';
import { pickerOf } from '../../web/src/composer/options.ts';

suite('completion', () => {
  /** `|` is the caret. */
  const at = (text: string) => triggerAt(text.replace('|', ''), text.indexOf('|'));

  test('a command only at the beginning, and only its word', () => {
    assert.deepEqual(at('/|'), { kind: 'command', query: '', start: 0, end: 1 });
    assert.deepEqual(at('/pl|an this'), { kind: 'command', query: 'pl', start: 0, end: 5 });
    assert.equal(at('/plan |'), undefined);
    assert.equal(at('say /pl|'), undefined);
    assert.equal(at('|/plan'), undefined);
  });

  test('a file behind an @ that begins a word', () => {
    assert.deepEqual(at('see @src/a|'), { kind: 'file', query: 'src/a', start: 4, end: 10 });
    assert.deepEqual(at('(@a|bc)'), { kind: 'file', query: 'a', start: 1, end: 6 });
    assert.deepEqual(at('@|'), { kind: 'file', query: '', start: 0, end: 1 });
    assert.equal(at('me@example|'), undefined);
    assert.equal(at('@src and |'), undefined);
    assert.equal(at(`@${'x'.repeat(300)}|`), undefined);
  });

  test('what is inserted ends with one space', () => {
    const trigger = { kind: 'file', query: 'a', start: 0, end: 2 } as const;
    assert.equal(insertion(trigger, 'a.ts', '@a'), '@a.ts ');
    assert.equal(insertion(trigger, 'a.ts', '@a is'), '@a.ts');
    assert.equal(insertion({ ...trigger, kind: 'command' }, 'plan', '/p'), '/plan ');
  });

  test('commands that begin with it come first', () => {
    const commands = ['explain', 'plan', 'Plant'].map((name) => ({ name }));
    assert.deepEqual(
      matchCommands(commands, 'PLA').map(({ name }) => name),
      ['plan', 'Plant', 'explain'],
    );
    assert.deepEqual(matchCommands(commands, 'none'), []);
  });

  test('which Enter sends', () => {
    const enter = { key: 'Enter', shiftKey: false, altKey: false, ctrlKey: false, metaKey: false };
    assert.equal(isSendKey(enter, true), true);
    assert.equal(isSendKey(enter, false), false);
    assert.equal(isSendKey({ ...enter, ctrlKey: true }, false), true);
    assert.equal(isSendKey({ ...enter, metaKey: true }, false), true);
    assert.equal(isSendKey({ ...enter, shiftKey: true }, true), false);
    assert.equal(isSendKey({ ...enter, key: 'a' }, true), false);
  });
});

suite('draft', () => {
  const link = (path: string) => ({ path, uri: `file:///w/${path}` });
  const linked = (text: string, ...paths: string[]) =>
    blocksOf({ ...EMPTY_DRAFT, text, links: paths.map(link) }).flatMap((block) =>
      block.type === 'resource_link' ? [block.name] : [],
    );
  const image: Attachment = { id: 1, kind: 'image', name: 'a b.png', size: 3, mimeType: 'image/png', data: 'AAAA' };
  const notes: Attachment = { id: 2, kind: 'text', name: 'n.txt', size: 2, mimeType: 'text/plain', text: 'hi' };

  test('links go along only while the text mentions them, each once', () => {
    assert.deepEqual(linked('look at @a.ts', 'a.ts', 'a.ts', 'b.ts'), ['a.ts']);
    assert.deepEqual(linked('@src/a.ts.', 'src/a.ts'), ['src/a.ts']);
    assert.deepEqual(linked('@my file.md, please', 'my file.md'), ['my file.md']);
    assert.deepEqual(linked('@src/a.tsx', 'src/a.ts'), []);
    assert.deepEqual(linked('@src/a.ts.bak', 'src/a.ts'), []);
    assert.deepEqual(linked('@src/a.ts', 'src'), []);
    assert.deepEqual(linked('x@a.ts', 'a.ts'), []);
    assert.deepEqual(linked('@a.tsx and @a.ts', 'a.ts'), ['a.ts']);
  });

  test('the text comes first, without the blank end; nothing makes nothing', () => {
    assert.deepEqual(blocksOf({ ...EMPTY_DRAFT, text: '  /help \n' }), [{ type: 'text', text: '  /help' }]);
    assert.deepEqual(blocksOf({ ...EMPTY_DRAFT, text: ' \n' }), []);
    assert.equal(isEmpty({ ...EMPTY_DRAFT, text: ' \n' }), true);
    const types = blocksOf({ ...EMPTY_DRAFT, text: 'see', attachments: [image, notes] }).map(({ type }) => type);
    assert.deepEqual(types, ['text', 'image', 'resource']);
    assert.deepEqual(blocksOf({ ...EMPTY_DRAFT, attachments: [image] }), [
      { type: 'image', data: 'AAAA', mimeType: 'image/png', uri: 'attachment:///a%20b.png' },
    ]);
  });

  test('a queued prompt comes back into the field as it was, before what is there', () => {
    let id = 0;
    const draft = { ...EMPTY_DRAFT, text: 'see @a.ts', links: [link('a.ts')], attachments: [image, notes] };
    const back = takenBack(EMPTY_DRAFT, blocksOf(draft), () => ++id);
    assert.deepEqual(back, draft);
    const both = takenBack({ ...EMPTY_DRAFT, text: 'more' }, blocksOf(draft), () => ++id);
    assert.equal(both.text, 'see @a.ts\n\nmore');
    assert.equal(takenBack({ ...EMPTY_DRAFT, text: 'more' }, [], () => 0).text, 'more');
  });

  test('a prompt in one line', () => {
    assert.equal(summaryOf(blocksOf({ ...EMPTY_DRAFT, text: 'hi' })), 'hi');
    assert.equal(
      summaryOf(blocksOf({ ...EMPTY_DRAFT, text: 'hi', attachments: [image, notes] })),
      'hi (1 image, 1 file)',
    );
    assert.equal(summaryOf(blocksOf({ ...EMPTY_DRAFT, attachments: [image, image] })), '(2 images)');
  });

  test('what a browser cannot be trusted to keep', () => {
    const large = (data: string) => isTooLargeToKeep(blocksOf({ ...EMPTY_DRAFT, attachments: [{ ...image, data }] }));
    assert.equal(large('A'.repeat(1_000)), false);
    assert.equal(large('A'.repeat(2_500_000)), true);
  });
});

suite('attachments', () => {
  const all = { image: true, text: true };
  const file = { name: 'f', size: 1_000, type: '', imageType: undefined };

  test('an image is what its bytes say', () => {
    assert.equal(imageTypeOf(Buffer.from('89504e470d0a1a0a00000000', 'hex')), 'image/png');
    assert.equal(imageTypeOf(Buffer.from('ffd8ffe0', 'hex')), 'image/jpeg');
    assert.equal(imageTypeOf(Buffer.from('GIF89a....')), 'image/gif');
    assert.equal(imageTypeOf(Buffer.from('RIFF....WEBPVP8 ')), 'image/webp');
    assert.equal(imageTypeOf(Buffer.from('RIFF....WAVEfmt ')), undefined);
    assert.equal(imageTypeOf(Buffer.from('hello')), undefined);
    assert.equal(imageTypeOf(Buffer.from('')), undefined);
  });

  test('what is too large, empty, or not taken is refused in words', () => {
    const png = { ...file, imageType: 'image/png' };
    assert.equal(refusalOf(png, all), undefined);
    assert.match(refusalOf({ ...png, size: 5_000_001 }, all) ?? '', /5 MB/);
    assert.match(refusalOf(png, { image: false, text: true }) ?? '', /no images/);
    assert.equal(refusalOf(file, all), undefined);
    assert.match(refusalOf({ ...file, size: 256_001 }, all) ?? '', /256 kB/);
    assert.match(refusalOf({ ...file, size: 0 }, all) ?? '', /empty/);
    assert.match(refusalOf({ ...file, type: 'image/heic' }, all) ?? '', /PNG, JPEG, GIF or WebP/);
    assert.equal(refusalOf({ ...file, type: 'image/svg+xml' }, all), undefined);
    assert.match(refusalOf(file, { image: true, text: false }) ?? '', /no files/);
  });

  test('together they stay below what one message may have', () => {
    const ten = Array.from({ length: 10 }, () => ({ size: 1 }));
    assert.match(noRoomFor({ name: 'f', size: 1 }, ten) ?? '', /10 attachments/);
    assert.match(noRoomFor({ name: 'f', size: 4_000_000 }, [{ size: 4_000_000 }, { size: 4_000_000 }]) ?? '', /11 MB/);
    assert.equal(noRoomFor({ name: 'f', size: 4_000_000 }, [{ size: 4_000_000 }]), undefined);
  });

  test('text is text', () => {
    assert.equal(textIn(Buffer.from('grüße')), 'grüße');
    assert.equal(textIn(Buffer.from([0xff, 0xfe, 0x41])), undefined);
    assert.equal(textIn(Buffer.from('a\0b')), undefined);
  });
});

test('options of every kind become one list', () => {
  const select = { id: 'model', name: 'Model', type: 'select' as const, currentValue: 'b' };
  const plain = pickerOf({ ...select, options: [{ value: 'a', name: 'A', description: 'small' }] });
  assert.deepEqual(plain.choices, [{ value: 'a', name: 'A', note: 'small' }]);
  assert.equal(plain.current, 'b');
  const options = [{ group: 'g', name: 'Large', options: [{ value: 'b', name: 'B', description: 'new' }] }];
  const grouped = pickerOf({ ...select, options });
  assert.deepEqual(grouped.choices, [{ value: 'b', name: 'B', note: 'Large · new' }]);
  assert.equal(grouped.current, 'B');
  const on = pickerOf({ id: 'x', name: 'X', type: 'boolean', currentValue: true });
  assert.equal(on.current, 'On');
});

test('sizes, durations and times', () => {
  const sizes: [number, string][] = [
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1 kB'],
    [1_234, '1.2 kB'],
    [9_960, '10 kB'],
    [256_000, '256 kB'],
    [999_600, '1 MB'],
    [34_400_000, '34 MB'],
  ];
  for (const [bytes, text] of sizes) assert.equal(bytesText(bytes), text);
  assert.equal(clockText(7_900), '0:07');
  assert.equal(clockText(-5), '0:00');
  assert.equal(clockText(754_000), '12:34');
  assert.equal(clockText(3_723_000), '1:02:03');
  const at = new Date(2026, 1, 3, 4, 5, 6, 7);
  assert.match(timeText(at.toISOString(), at), /^04:05:06[.,]007$/);
  assert.match(timeText(at.toISOString(), new Date(2026, 1, 4)), /3.*04:05:06/);
});
