/** Output, arguments, times and paths as a tool card shows them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { leftBecause, said } from '../../web/src/tools/approval-words.ts';
import { countLines, endOfPart, plainOutput, safeUrl, tailOf, visible } from '../../web/src/tools/plain-text.ts';
import { countdown, durationText, elapsedText, relativePath, tokensText } from '../../web/src/tools/words.ts';

test('escape sequences of terminals go and the text stays', () => {
  assert.equal(plainOutput('\u001b[31mred\u001b[0m and \u001b[1;38;5;9mbold\u001b[m'), 'red and bold');
  assert.equal(plainOutput('\u001b]8;;http://x\u0007link\u001b]8;;\u001b\\'), 'link');
  assert.equal(plainOutput('\u001b]0;title never ended\nnext line'), '\nnext line');
  assert.equal(plainOutput('\u001b(Ba\u001b7b\u009b2Kc'), 'abc');
  assert.equal(plainOutput('B\bBo\bol\bld\bd'), 'Bold');
  assert.equal(plainOutput('a\0b\u007f'), 'a\u2400b\u2421');
});

test('a rewritten line stands as it was left', () => {
  assert.equal(plainOutput('10 %\r50 %\r100 %\ndone\r\n'), '100 %\ndone\n');
  assert.equal(plainOutput('waiting\r'), 'waiting');
});

test('no output keeps a control character, however it is made', () => {
  const piece = fc.constantFrom('\u001b', '[', ']', '3', 'm', '\r', '\n', '\t', '\b', '\u009b', '\u0007', 'x', '\\');
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      assert.doesNotMatch(plainOutput(pieces.join('')), /(?![\n\t])\p{Cc}/u);
    }),
  );
});

test('a megabyte of anything is plain in a moment', () => {
  for (const text of ['x', '\u001b', '\u001b]', '\r', '\b', 'x\b', '\n', '\u001b[3']) {
    const output = text.repeat(1_000_000 / text.length);
    const before = performance.now();
    plainOutput(output);
    assert.ok(performance.now() - before < 1_000, JSON.stringify(text));
  }
});

test('what cannot be seen is shown as an escape', () => {
  assert.equal(visible('a\u202eb\u00a0c\u{e0041}'), 'a\\u202eb\\u00a0c\\udb40\\udc41');
  assert.equal(visible('two\nlines\tand \r'), 'two\nlines\tand \\r');
});

test('a part ends with a line where it can', () => {
  assert.equal(endOfPart('one\ntwo\nthree', 0, 2, 100), 8);
  assert.equal(endOfPart('one\ntwo\nthree', 8, 2, 100), 13);
  assert.equal(endOfPart('abcdef', 0, 10, 4), 4);
  assert.equal(endOfPart('abc😀', 0, 10, 4), 3);
});

test('the tail is whole lines', () => {
  assert.equal(tailOf('one\ntwo\nthree\n', 2, 100), 'two\nthree\n');
  assert.equal(tailOf('one\ntwo', 5, 100), 'one\ntwo');
  assert.equal(tailOf('', 5, 100), '');
  assert.equal(countLines('one\ntwo\n'), 2);
  assert.equal(countLines('one\ntwo'), 2);
  assert.equal(countLines(''), 0);
});

test('only addresses of the web and of mail become links', () => {
  assert.equal(safeUrl('https://example.org/a'), 'https://example.org/a');
  for (const uri of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', ' JaVaScRiPt:1', 'nothing'])
    assert.equal(safeUrl(uri), undefined);
});

test('durations are as long as they need to be', () => {
  const said = [0, 42, 999, 1_000, 1_250, 9_999, 10_000, 59_999, 60_000, 125_000, 3_600_000, 3_780_000];
  const texts = ['0 ms', '42 ms', '999 ms', '1.0 s', '1.2 s', '9.9 s', '10 s', '59 s'];
  assert.deepEqual(said.map(durationText), [...texts, '1 min', '2 min 5 s', '1 h', '1 h 3 min']);
  assert.equal(durationText(-5), '0 ms');
  assert.equal(elapsedText(1_900), '1 s');
});

test('a countdown is in seconds only at its end', () => {
  assert.deepEqual(countdown(29 * 60_000 + 59_000), { text: 'expires in 29 min', urgent: false });
  assert.deepEqual(countdown(3_600_000), { text: 'expires in 1 h', urgent: false });
  assert.deepEqual(countdown(60_000), { text: 'expires in 1 min', urgent: false });
  assert.deepEqual(countdown(59_001), { text: 'expires in 60 s', urgent: true });
  assert.deepEqual(countdown(1), { text: 'expires in 1 s', urgent: true });
  assert.deepEqual(countdown(0), { text: 'expired', urgent: true });
});

test('tokens are counted in thousands', () => {
  const texts = [0, 999, 1_000, 1_540, 9_949, 9_950, 34_200, 128_000, 999_499, 999_500, 1_250_000].map(tokensText);
  assert.deepEqual(texts, ['0', '999', '1k', '1.5k', '9.9k', '10k', '34k', '128k', '999k', '1M', '1.3M']);
});

test('a path inside of the folder is relative to it', () => {
  assert.equal(relativePath('/home/me/app/src/a.ts', '/home/me/app'), 'src/a.ts');
  assert.equal(relativePath('/home/me/app', '/home/me/app/'), '.');
  assert.equal(relativePath('/home/me/application/a.ts', '/home/me/app'), '/home/me/application/a.ts');
  assert.equal(relativePath('/etc/passwd', '/'), 'etc/passwd');
  assert.equal(relativePath('C:\\app\\a.ts', 'C:\\app'), 'a.ts');
  assert.equal(relativePath('a.ts', undefined), 'a.ts');
  assert.equal(relativePath('src/a.ts', '/home/me'), 'src/a.ts');
});

test('what the server says of a question is its warnings and then everything', () => {
  const text = (text: string) => ({ type: 'content' as const, content: { type: 'text' as const, text } });
  const careful = 'Careful: it is long; read it to its end.';
  assert.deepEqual(said({ toolCallId: 'c', content: [text(careful), text('{}')] }), {
    warnings: [careful],
    everything: '{}',
  });
  assert.deepEqual(said({ toolCallId: 'c', content: [text('"Careful: "')] }).warnings, []);
  assert.deepEqual(said({ toolCallId: 'c' }), { warnings: [], everything: '' });
});

test('a question that left says why', () => {
  const still = { expiresAt: 100_000, turnEnds: false };
  assert.equal(leftBecause(still, 50_000), 'Answered elsewhere.');
  assert.match(leftBecause(still, 99_000), /in time/);
  assert.match(leftBecause({ ...still, turnEnds: true }, 50_000), /ended/);
});
