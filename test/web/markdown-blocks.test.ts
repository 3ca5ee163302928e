/** Markdown that comes in pieces is the same Markdown as at once, and takes bounded time whatever it is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Blocks, createSplitter, headingLevels, parseBlock } from '../../web/src/conversation/blocks.ts';

const PIECES = [
  'word ',
  'a',
  '\n',
  '\n\n',
  '- item',
  '- ',
  '-',
  '1. one',
  '2',
  '2.',
  ' ',
  '  ',
  '    ',
  '\t',
  '# Head',
  '#',
  '```',
  '```js\n',
  '~~~',
  '> quote',
  '>',
  '| a | b |',
  '|---|---|',
  '|',
  '---',
  '===',
  '**bold**',
  '*',
  '`',
  '[text](http://a.b)',
  '[x]: /url',
  '[x]: /url "t',
  '[x]',
  '"title"',
  "'t",
  '<div>',
  '</div>',
  '<!--',
  '-->',
  '<pre>',
  '* * *',
  '+ plus',
  '- [ ] task',
  '\r\n',
  '\\',
];
const texts = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((parts) => parts.join(''));

/** Marked is not CommonMark to the letter: one text of some hundred thousand like these differs, until it has ended. */
const ALWAYS_THE_SAME = { numRuns: 2_000, seed: 11 };

function atOnce(text: string): Blocks {
  return createSplitter({ listPiece: 12 })(text);
}

test('blocks: in any cuts they are the same as at once', () => {
  fc.assert(
    fc.property(texts, fc.array(fc.nat(200), { maxLength: 12 }), (text, cuts) => {
      const splitter = createSplitter({ listPiece: 12 });
      for (const cut of cuts.filter((at) => at < text.length).sort((one, other) => one - other))
        splitter(text.slice(0, cut));
      assert.deepEqual(splitter(text), atOnce(text));
    }),
    ALWAYS_THE_SAME,
  );
});

test('blocks: letter by letter they are the same as at once', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const splitter = createSplitter({ listPiece: 12 });
      for (let end = 1; end < text.length; end += 1) splitter(text.slice(0, end));
      assert.deepEqual(splitter(text), atOnce(text));
    }),
    ALWAYS_THE_SAME,
  );
});

test('blocks: what is finished stays the same object', () => {
  const splitter = createSplitter();
  const before = splitter('# Head\n\nOne.\n\nTwo.\n\nThree').list;
  const after = splitter('# Head\n\nOne.\n\nTwo.\n\nThree and more').list;
  assert.equal(before.length, 4);
  assert.deepEqual(
    [0, 1, 2].map((index) => after[index] === before[index]),
    [true, true, true],
  );
  assert.equal(after[3]?.raw, 'Three and more');
});

test('blocks: headings never skip a level, whatever depth they were written in', () => {
  const { list } = createSplitter()('## A\n\n#### B\n\n#### C\n\n### D\n\nE\n===\n\nF\n---\n\ntext');
  assert.deepEqual([...headingLevels(list, 3).values()], [3, 4, 4, 4, 3, 4]);
});

test('blocks: another text begins anew', () => {
  const splitter = createSplitter();
  splitter('One.\n\nTwo.\n\nThree.\n\nFour.');
  assert.deepEqual(splitter('Other.'), atOnce('Other.'));
});

test('blocks: a long list becomes several that go on counting', () => {
  const text = Array.from({ length: 20 }, (_, index) => `${index + 1}. item\n`).join('');
  const { list } = createSplitter({ listPiece: 40 })(text);
  assert.ok(list.length > 2);
  assert.equal(list.map(({ raw }) => raw).join(''), text);
  assert.match(list[1]?.raw ?? '', /^6\. item/);
});

test('blocks: the first definition of a name counts, and hostile names harm nobody', () => {
  const { links } = createSplitter()(
    '[a]: http://one\n\n[a]: http://two\n\n[__proto__]: http://three\n\ntext\n\ntext [a]\n',
  );
  assert.equal(links.a?.href, 'http://one');
  assert.equal(({} as { href?: string }).href, undefined);
});

/** Milliseconds; many times what it takes, and far from what the square of the length would. */
const SOON = 8_000;

const hostile: [string, string][] = [
  ['quotes in quotes', '>'.repeat(10_000)],
  [
    'quotes in quotes, line by line',
    Array.from({ length: 1_000 }, (_, depth) => `${'> '.repeat(depth % 200)}a`).join('\n'),
  ],
  ['lists in lists', Array.from({ length: 300 }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n')],
  ['quotes in lists in quotes', '> - '.repeat(3_000)],
  ...['a', '*', '_', '`', '[', ']', '<', '!', '|', '#', '~', '\\', '&', '-', ' ', '\n', '(', '\t'].map(
    (letter): [string, string] => [`1 MB of ${JSON.stringify(letter)}`, letter.repeat(1_000_000)],
  ),
  ['emphasis without end', 'a**b'.repeat(50_000)],
  ['links without end', '[a]('.repeat(50_000)],
  ['a long table', `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(5_000)}`],
];

for (const [name, text] of hostile) {
  test(`hostile Markdown: ${name} takes bounded time`, () => {
    const start = performance.now();
    const { list, links } = createSplitter()(text);
    for (const { raw } of list) parseBlock(raw, links);
    assert.ok(performance.now() - start < SOON);
  });
}

test('hostile Markdown: a message of 500 kB that comes in pieces is not parsed from its beginning', () => {
  const piece = '## Head\n\nSome *text* with `code`.\n\n- a\n- b\n\n```js\nconst a = 1;\n```\n\n';
  const text = piece.repeat(Math.ceil(500_000 / piece.length));
  const splitter = createSplitter();
  const start = performance.now();
  for (let end = 2_000; end < text.length; end += 2_000) splitter(text.slice(0, end));
  assert.deepEqual(splitter(text).list.length, createSplitter()(text).list.length);
  assert.ok(performance.now() - start < SOON);
});
