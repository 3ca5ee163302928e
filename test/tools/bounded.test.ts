/** The bounds of output. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { boundLines, createOutputBuffer, firstBytes, OUTPUT_BYTES } from '../../src/tools/bounded.ts';

function written(chunks: readonly Uint8Array[]) {
  const output = createOutputBuffer();
  for (const chunk of chunks) output.write(Buffer.from(chunk));
  return output;
}

test('[TOOL7] output within the bound is shown as it is, however it was cut into chunks', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), fc.integer({ min: 1, max: 7 }), (text, size) => {
      const bytes = Buffer.from(text);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      assert.equal(written(chunks).text(), text);
    }),
  );
});

test('[O08] longer output keeps its head and its tail, never half a character', () => {
  const unit = fc.constantFrom('a', 'é', '€', '😀', '\n');
  const text = fc.tuple(fc.string({ unit, maxLength: 5 }), fc.string({ unit, minLength: 1, maxLength: 5 }));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9_000 }), ([start, repeated], size) => {
      const whole = start + repeated.repeat(Math.ceil((2 * OUTPUT_BYTES) / Buffer.byteLength(repeated)));
      const bytes = Buffer.from(whole);
      const output = written(
        Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size)),
      );
      const [head = '', omitted, tail = ''] = output.text().split(/\n…\[(\d+) bytes omitted\]…\n/);
      assert.ok(whole.startsWith(head) && whole.endsWith(tail) && whole.endsWith(output.tail()));
      assert.equal(Buffer.byteLength(head) + Buffer.byteLength(tail) + Number(omitted), bytes.length);
      assert.ok(Buffer.byteLength(head) > 7_990 && Buffer.byteLength(tail) > 7_990);
      assert.ok(Buffer.byteLength(output.tail()) <= 8_000);
    }),
    { numRuns: 25 },
  );
});

test('[O08] bytes that are no text are replaced, within the bound', () => {
  for (const length of [0, 1, 3, 7_999, 8_000, 8_001, 15_999, 16_000, 16_001, 50_000]) {
    for (const byte of [0x00, 0x80, 0xc3, 0xf0, 0xff]) {
      const output = written([Buffer.alloc(length, byte)]);
      assert.ok(Buffer.byteLength(output.text()) <= OUTPUT_BYTES + 100);
      assert.ok(Buffer.byteLength(output.tail()) <= 8_000);
      assert.ok(output.text().isWellFormed());
    }
  }
});

test('[O08] the beginning of a text ends between two characters', () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 9].map((max) => firstBytes('a😀b', max)),
    ['', 'a', 'a', 'a', 'a', 'a😀', 'a😀b'],
  );
});

test('[TOOL7] lines beyond the bound are left out and counted', () => {
  assert.equal(boundLines(['a', 'b'], 2, 'x'), 'a\nb');
  assert.equal(boundLines(['a', 'b', 'c'], 2, 'look closer'), 'a\nb\n[truncated: showing the first 2; look closer]');
  assert.equal(
    boundLines(['x'.repeat(9_000), 'y'.repeat(9_000)], 9, 'z').length,
    9_001 + '[truncated: showing the first 1; z]'.length,
  );
  assert.equal(boundLines([], 2, 'x'), '');
});
