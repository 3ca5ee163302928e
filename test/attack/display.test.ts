/** Texts that show a person something else than what they are: what is approved must be what is seen, and what runs. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { hashCall } from '../../src/core/permission.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { world } from '../support/world.ts';
import { toolNamed } from '../tools/support.ts';

const ESC = '\u001b';

/** What a spoof is about, and the text. */
const SPOOFS: Record<string, string> = {
  'right-to-left override': 'rm -rf \u202etxt.eman/~',
  'left-to-right override': 'ls \u202d; rm x',
  'right-to-left embedding': 'cat \u202bgpj.sh\u202c',
  'right-to-left isolate': 'cat \u2067a\u2069; rm x',
  'first-strong isolate': 'cat \u2068a\u2069; rm x',
  'right-to-left mark': 'ls \u200f; rm x',
  'Arabic letter mark': 'ls \u061c; rm x',
  'colour that hides': `ls ${ESC}[8m; rm x${ESC}[0m`,
  'cursor that goes back': `rm x${ESC}[4D${ESC}[Kls`,
  'cursor that goes up': `rm x\n${ESC}[1A${ESC}[2Kls`,
  'screen that is cleared': `rm x${ESC}[2J${ESC}[Hls`,
  'title of the terminal': `${ESC}]0;safe\u0007rm x`,
  'link of the terminal': `${ESC}]8;;http://evil.example\u0007docs${ESC}]8;;\u0007`,
  'clipboard of the terminal': `${ESC}]52;c;cm0gLXJmIH4=\u0007ls`,
  'one-byte escape': 'rm x\u009b2Kls',
  'zero width space': 'r\u200bm x',
  'zero width joiner': 'r\u200dm x',
  'word joiner': 'r\u2060m x',
  'soft hyphen': 'r\u00adm x',
  'byte order mark': '\ufeffrm x',
  'combining grapheme joiner': 'r\u034fm x',
  'variation selector': 'rm\ufe0f x',
  'smuggled tag characters': 'ls\u{e0072}\u{e006d}\u{e0020}\u{e0078}',
  'Hangul filler': 'ls\u3164rm',
  'blank braille pattern': 'ls\u2800rm',
  'no-break space': 'ls\u00a0rm',
  'ideographic space': 'ls\u3000rm',
  'line separator': 'ls\u2028rm x',
  'paragraph separator': 'ls\u2029rm x',
  'next line': 'ls\u0085rm x',
  'carriage return': 'rm x\rls   ',
  backspaces: 'rm x\b\b\b\bls  ',
  'vertical tab and form feed': 'ls\u000brm\fx',
  'bell and delete': 'ls\u0007\u007frm',
  'lone surrogate': 'ls\ud800rm',
  'private use': 'ls\ue000rm',
  'a second line': 'ls\nrm x',
  'a forged question': 'ls"\n}\nAllowed by the administrator. Command: {"command": "ls',
  'padding of spaces': `ls${' '.repeat(300)}; rm x`,
  'padding of tabs': `ls${'\t'.repeat(100)}; rm x`,
  'padding of line breaks': `ls${'\n'.repeat(100)}rm x`,
  'padding that cannot be seen': `ls${'\u200b'.repeat(100)}; rm x`,
  'a very long text': `echo ${'a'.repeat(5_000)}; rm x`,
};

const NO_WARNING = ['a second line', 'a forged question'];

/** Anything that is not a plain visible character or the line feed between the lines of the JSON. */
const HIDDEN = /(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

test('[ATK4] a permission shows every character of what would run, and that is what runs', async () => {
  const names = Object.keys(SPOOFS);
  const calls = Object.values(SPOOFS).map((text, n) => call(`c${n}`, 'poke', { text }));
  await using w = await world({
    script: [
      [...calls, finish()],
      [...say('Done.'), finish()],
    ],
    settings: { permissionCeiling: 'ask' },
  });
  const client = await w.client();
  const shown: unknown[] = [];
  client.onPermission = (params) => {
    const { title, rawInput, content } = params.toolCall as {
      title: string;
      rawInput: { text: string };
      content: { content: { text: string } }[];
    };
    const name = names[shown.length] ?? '';
    const texts = content.map((block) => block.content.text);
    for (const text of [title, ...texts]) assert.ok(!HIDDEN.test(text), name);
    assert.ok(!title.includes('\n'), name);
    const read = JSON.parse(texts.at(-1) ?? '') as { text: string };
    assert.deepEqual(read, { text: SPOOFS[name] }, name);
    assert.deepEqual(rawInput, read, name);
    assert.equal(texts.length, NO_WARNING.includes(name) ? 1 : 2, name);
    if (texts.length > 1) assert.match(texts[0] ?? '', /^Careful: /, name);
    if (/padding|long/.test(name)) assert.match(texts[0] ?? '', /padding|long/, name);
    shown.push(read);
    return { outcome: { outcome: 'selected', optionId: 'allow' } };
  };
  const sessionId = await client.newSession(w.dir);
  await client.prompt(sessionId, 'go');
  assert.equal(shown.length, names.length);
  const written = Buffer.from(Object.values(SPOOFS).join(''));
  assert.deepEqual(await readFile(join(w.dir, 'poked')), written);
  const asked = (await w.events(sessionId)).filter((event) => event.type === 'permission_requested');
  assert.deepEqual(
    asked.map(({ data }) => data.argsHash),
    shown.map((args) => hashCall('poke', args as { text: string })),
  );
});

test('[ATK4] an ordinary call is shown without a warning', async () => {
  const args = { text: 'const a = "ä → \\\\r";\n\tif (x) {\n\t\treturn 1;\n\t}\n' };
  await using w = await world({
    script: [
      [call('c', 'poke', args), finish()],
      [...say('Done.'), finish()],
    ],
    settings: { permissionCeiling: 'ask' },
  });
  const client = await w.client();
  client.onPermission = ({ toolCall }) => {
    const { content } = toolCall as { content: { content: { text: string } }[] };
    assert.deepEqual(
      content.map((block) => JSON.parse(block.content.text)),
      [args],
    );
    return { outcome: { outcome: 'selected', optionId: 'reject' } };
  };
  await client.prompt(await client.newSession(w.dir), 'go');
});

test('[ATK4] the title of every tool is one line in which everything can be seen', () => {
  for (const [name, text] of Object.entries(SPOOFS)) {
    const titles = [
      toolNamed('bash').title({ command: text }),
      toolNamed('write').title({ path: text, content: '' }),
      toolNamed('grep').title({ pattern: text }),
      toolNamed('apply_patch').title({ patch: `*** Begin Patch\n*** Delete File: ${text}\n*** End Patch` }),
    ];
    for (const title of titles) assert.ok(!HIDDEN.test(title) && !title.includes('\n'), `${name}: ${title}`);
  }
});
