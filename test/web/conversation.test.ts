/** What the conversation is made of, without a page: rows, links, matches, and the Markdown that leaves it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOf } from '../../web/src/conversation/languages.ts';
import { hostOf, isInlineImage, safeHref, withoutEntities } from '../../web/src/conversation/links.ts';
import { findMatches, occurrences } from '../../web/src/conversation/matches.ts';
import { promptFrom, rowAt } from '../../web/src/conversation/places.ts';
import { createRows } from '../../web/src/conversation/rows.ts';
import { fileName, toMarkdown } from '../../web/src/conversation/to-markdown.ts';
import type { Item } from '../../web/src/state/items.ts';

const prompt = (id: string, text = id): Item => ({ type: 'user', id, content: [{ type: 'text', text }] });
const message = (id: string, text = id): Item => ({ type: 'message', id, text });
const tool = (id: string): Item => ({ type: 'tool', id, call: { title: id, status: 'completed' } });

test('links: only pages and mail addresses can be opened', () => {
  assert.equal(safeHref('https://example.com/a b'), 'https://example.com/a%20b');
  assert.equal(safeHref('mailto:a@b.c'), 'mailto:a@b.c');
  const bad = [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'JAVASCRIPT:alert(1)',
    'data:text/html,x',
  ];
  for (const address of [
    ...bad,
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://a/b',
    '//evil.example',
    '/x',
    'x.md',
    '#x',
    '',
  ])
    assert.equal(safeHref(address), undefined, address);
});

test('links: an image is its host, or bytes of a kind that is a picture', () => {
  assert.equal(hostOf('https://images.example:8080/a.png?x'), 'images.example:8080');
  assert.equal(hostOf('data:image/png;base64,AAAA'), undefined);
  assert.equal(isInlineImage('data:image/png;base64,AAAA'), true);
  for (const address of ['data:image/svg+xml;base64,AAAA', 'data:text/html;base64,AAAA', 'data:image/png,<b>'])
    assert.equal(isInlineImage(address), false, address);
});

test('links: entities are the letters they stand for, once', () => {
  assert.equal(
    withoutEntities('a &amp; b &lt;c&gt; &#65;&#x42; &amp;lt; &unknown; &#0; &'),
    'a & b <c> AB &lt; &unknown; &#0; &',
  );
});

test('rows: those of what has not changed are the same objects', () => {
  const rows = createRows();
  const items = [prompt('u1'), tool('c1'), tool('c2'), message('m1')];
  const before = rows(items);
  assert.deepEqual(
    before.list.map(({ joined }) => joined),
    [false, false, true, false],
  );
  const after = rows([...items.slice(0, 3), message('m1', 'm1 and more')]);
  assert.deepEqual(
    after.list.map((row, index) => row === before.list[index]),
    [true, true, true, false],
  );
  assert.equal(after.hasOlder, false);
});

test('rows: older ones in front are told, and change nothing of the others', () => {
  const rows = createRows();
  const items = [prompt('u2'), message('m2')];
  const before = rows(items);
  const after = rows([prompt('u1'), message('m1'), ...items]);
  assert.equal(after.hasOlder, true);
  assert.equal(after.list[3], before.list[1]);
  assert.equal(rows([prompt('u9')]).hasOlder, false);
});

test('rows: a long message has several, and only its last one changes while it grows', () => {
  const rows = createRows({ long: 100, size: 40 });
  const text = Array.from({ length: 20 }, (_, index) => `Paragraph ${index}.`).join('\n\n');
  const before = rows([message('m', text)]);
  assert.ok(before.list.length > 4);
  const after = rows([message('m', `${text} And more`)]);
  const parts = (from: typeof before) => from.list.map(({ part }) => part);
  assert.deepEqual(parts(after).slice(0, -1), parts(before).slice(0, -1));
  assert.equal(parts(after)[0], parts(before)[0]);
  assert.notEqual(parts(after).at(-1), parts(before).at(-1));
  assert.equal(after.list[0]?.key, 'message:m');
});

test('rows: a very long last message is looked through over several frames, and drawn when it is', () => {
  const rows = createRows({ long: 100, size: 40, most: 200 });
  const text = 'A paragraph.\n\n'.repeat(40);
  const items = [prompt('u'), message('m', text)];
  let now = rows(items);
  assert.deepEqual([now.isPartial, now.list.length], [true, 1]);
  for (let frame = 0; now.isPartial && frame < 10; frame += 1) now = rows(items);
  assert.equal(now.isPartial, false);
  assert.equal(
    now.list
      .slice(1)
      .map(({ part }) => part?.list.map(({ raw }) => raw).join(''))
      .join(''),
    'A paragraph.'.repeat(40),
  );
});

test('places: the prompts before and after the top of the window', () => {
  const { list } = createRows()([prompt('a'), message('b'), prompt('c'), message('d')]);
  const at = (scrollOffset: number) => ({
    scrollOffset,
    viewportSize: 50,
    getItemOffset: (index: number) => index * 100,
    getItemSize: () => 100,
  });
  assert.equal(promptFrom(list, at(350), -1, 0), 2);
  assert.equal(promptFrom(list, at(200), -1, 0), 0);
  assert.equal(promptFrom(list, at(0), -1, 0), undefined);
  assert.equal(promptFrom(list, at(100), 1, 0), 2);
  assert.equal(promptFrom(list, at(200), 1, 0), undefined);
  assert.equal(rowAt(list, 'c', 5), 2);
  assert.equal(rowAt(list, 'gone', 5), undefined);
});

test('matches: texts, prompts, titles and outputs, without case', async () => {
  const output: Item = {
    type: 'tool',
    id: 't',
    call: { title: 'Read needle.ts', content: [{ type: 'content', content: { type: 'text', text: 'a NEEDLE' } }] },
  };
  const items = [prompt('u', 'a Needle'), message('m', 'needle needle'), output, message('n', 'hay')];
  const found = await findMatches(items, 'needle', () => Promise.resolve(true));
  assert.deepEqual(
    found.map(({ itemId, offset }) => [itemId, offset]),
    [
      ['u', 2],
      ['m', 0],
      ['m', 7],
      ['t', 5],
      ['t', 17],
    ],
  );
  assert.deepEqual(await findMatches(items, '', () => Promise.resolve(true)), []);
  assert.deepEqual(occurrences('aaaa', 'AA'), [0, 2]);
  assert.deepEqual(occurrences('x', ''), []);
});

test('Markdown: a conversation leaves as one text that nothing breaks out of', () => {
  const items: Item[] = [
    prompt('u', 'Do it'),
    { type: 'thought', id: 't', text: 'Hm.\nYes.' },
    {
      type: 'tool',
      id: 'c',
      call: {
        title: 'Run\n# not a heading',
        status: 'failed',
        content: [{ type: 'content', content: { type: 'text', text: '```\nout' } }],
      },
    },
    message('m', 'Done.'),
    message('end_1', 'No answer'),
  ];
  assert.equal(
    toMarkdown(items, 'A\ntitle'),
    [
      '# A title',
      '## You',
      'Do it',
      '## Agent',
      '> *Thought:* Hm.\n> Yes.',
      '**Run # not a heading** (failed)',
      '````\n```\nout\n````',
      'Done.',
      '> **Failed:** No answer\n',
    ].join('\n\n'),
  );
});

test('Markdown: what came along with a prompt is named', () => {
  const items: Item[] = [
    {
      type: 'user',
      id: 'u',
      content: [
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource_link', name: 'a]b', uri: 'file:///a b' },
        { type: 'resource', resource: { uri: 'file:///n.md', text: 'hello\n' } },
      ],
    },
  ];
  assert.equal(
    toMarkdown(items, undefined),
    '# Untitled\n\n## You\n\n*(image, image/png)*\n\n[a\\]b](<file:///a b>)\n\n`file:///n.md`\n\n```\nhello\n```\n',
  );
});

test('file names come from the title, and from nothing else', () => {
  assert.equal(fileName('Fix: the ../parser, Müller & Söhne!', 'md'), 'Fix-the-parser-Müller-Söhne.md');
  assert.equal(fileName('///', 'json'), 'session.json');
  assert.equal(fileName(undefined, 'md'), 'session.md');
  assert.equal([...fileName('x'.repeat(500), 'md')].length, 63);
});

test('languages: by name, alias, path and ending', () => {
  assert.deepEqual(
    ['ts', 'TypeScript', 'src/a.test.ts', 'Dockerfile', 'C:\\x\\y.PY', 'sh', 'brainfuck', ''].map(languageOf),
    ['typescript', 'typescript', 'typescript', 'docker', 'python', 'bash', undefined, undefined],
  );
});
