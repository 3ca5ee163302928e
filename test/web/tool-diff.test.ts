/** Comparing texts for the diff view: lines, folds, sides, words, and where it gives up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compare, comparisonOf, type Line, pairsOf, runsOf } from '../../web/src/tools/comparison.ts';
import { piecesOf, wordMarks } from '../../web/src/tools/word-marks.ts';

const PATIENCE = 10_000;
const text = fc.array(fc.constantFrom('a', 'b', 'c', '', 'a\r'), { maxLength: 30 }).map((lines) => lines.join('\n'));

function linesOf(comparison: ReturnType<typeof compare>): readonly Line[] {
  assert.equal(comparison.kind, 'lines');
  return comparison.lines;
}

function side(lines: readonly Line[], without: 'add' | 'del'): string {
  return lines
    .filter(({ kind }) => kind !== without)
    .map((line) => (line.unended ? line.text : `${line.text}\n`))
    .join('');
}

test('a comparison holds both texts, in order and numbered', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = linesOf(compare(before, after, PATIENCE));
      const isCrlf = [before, after].every((one) => !/(?:^|[^\r])\n/.test(one));
      const plain = (one: string) => (isCrlf ? one.replaceAll('\r\n', '\n') : one);
      assert.equal(side(lines, 'add'), plain(before));
      assert.equal(side(lines, 'del'), plain(after));
      const numbers = lines.flatMap(({ now }) => now ?? []);
      assert.deepEqual(
        numbers,
        [...numbers.keys()].map((index) => index + 1),
      );
    }),
  );
});

test('a new file is all added, and a missing line end is a difference', () => {
  const made = comparisonOf({ oldText: null, newText: 'one\ntwo\n' });
  assert.ok(made.kind === 'lines');
  assert.deepEqual([made.added, made.removed], [2, 0]);
  const ended = compare('one\n', 'one');
  assert.ok(ended.kind === 'lines');
  assert.deepEqual([ended.added, ended.removed, ended.lines.at(-1)?.unended], [1, 1, true]);
});

test('what differs too much is not compared, and shows the new text', () => {
  const many = (word: string) => Array.from({ length: 10_000 }, (_, line) => `${word} ${line}\n`).join('');
  const started = performance.now();
  const comparison = compare(many('old'), many('new'));
  assert.equal(comparison.kind, 'too_large');
  assert.equal(comparison.lines.length, 10_000);
  assert.ok(performance.now() - started < 1_000);
});

test('a change in the midst of a large file is compared at once', () => {
  const lines = Array.from({ length: 10_000 }, (_, line) => `line ${line}\n`);
  const comparison = compare(lines.join(''), lines.with(5_000, 'other\n').join(''), PATIENCE);
  assert.ok(comparison.kind === 'lines');
  assert.deepEqual([comparison.added, comparison.removed], [1, 1]);
});

test('folds leave three lines around each change and lose none', () => {
  const before = Array.from({ length: 40 }, (_, line) => `${line}\n`);
  const after = before.with(10, 'x\n').with(18, 'y\n').join('');
  const runs = runsOf(linesOf(compare(before.join(''), after)));
  const folded = runs.filter(({ isFolded }) => isFolded);
  assert.deepEqual(
    folded.map(({ from, to }) => [from, to]),
    [
      [0, 7],
      [24, 42],
    ],
  );
  fc.assert(
    fc.property(text, text, (one, other) => {
      const lines = linesOf(compare(one, other, PATIENCE));
      const covered = runsOf(lines).flatMap(({ from, to }) => lines.slice(from, to));
      assert.deepEqual(covered, lines);
      for (const { isFolded, from, to } of runsOf(lines))
        if (isFolded) assert.ok(lines.slice(from, to).every(({ kind }) => kind === 'same'));
    }),
  );
});

test('side by side, every line has its place on its side', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const lines = linesOf(compare(one, other, PATIENCE));
      const pairs = pairsOf(lines);
      assert.deepEqual(
        pairs.flatMap(({ left }) => left ?? []),
        lines.filter(({ kind }) => kind !== 'add'),
      );
      assert.deepEqual(
        pairs.flatMap(({ right }) => right ?? []),
        lines.filter(({ kind }) => kind !== 'del'),
      );
    }),
  );
});

test('words are marked where the lines are alike', () => {
  const lines = linesOf(compare('let i = 1;\n', 'let i = 0;\n'));
  const marks = wordMarks(lines);
  const marked = lines.map((line) => (marks.get(line) ?? []).map(([from, to]) => line.text.slice(from, to)));
  assert.deepEqual(marked, [['1'], ['0']]);
  assert.equal(wordMarks(linesOf(compare('abc def\n', 'something else\n'))).size, 0);
});

test('pieces are the line, cut by colours and by marks', () => {
  const tokens = [
    { text: 'let ', kind: 'keyword' },
    { text: 'i = 1;', kind: undefined },
  ];
  const pieces = piecesOf('let i = 1;', tokens, [[2, 6]]);
  assert.deepEqual(
    pieces.map(({ text, kind, isMarked }) => [text, kind, isMarked]),
    [
      ['le', 'keyword', false],
      ['t ', 'keyword', true],
      ['i ', undefined, true],
      ['= 1;', undefined, false],
    ],
  );
  assert.deepEqual(piecesOf('other', tokens, []), [{ text: 'other', kind: undefined, isMarked: false }]);
});
