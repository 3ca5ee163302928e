/** The arguments of each tool: the line of its card, and what a person approves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { questionOf } from '../../web/src/tools/approval-words.ts';
import { callState, endTexts, failureText } from '../../web/src/tools/call-state.ts';
import { patchFiles, patchLines, proposalOf } from '../../web/src/tools/proposal.ts';
import { summaryOf } from '../../web/src/tools/summary.ts';

const PATCH =
  '*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@ def f():\n one\n-two\n+three\n*** Add File: c.py\n+x\n*** End Patch';

const LINES: readonly [tool: string, input: object, detail: string][] = [
  ['apply_patch', { patch: PATCH }, 'a.py and 2 more'],
  ['ask_user', { question: 'Which one?' }, 'Which one?'],
  ['bash', { command: 'node test.js' }, 'node test.js'],
  ['bash', { command: 'cd x\nmake' }, 'cd x …'],
  ['edit', { path: '/w/src/a.ts', old_string: 'a', new_string: 'b' }, 'src/a.ts'],
  ['glob', { pattern: '*.ts', path: 'src' }, '*.ts in src'],
  ['grep', { pattern: 'x+', path: '/w', glob: '*.ts' }, 'x+ in . (*.ts)'],
  ['list', {}, '.'],
  ['read', { path: 'a.ts', offset: 10, limit: 20 }, 'a.ts:10-29'],
  ['read', { path: 'a.ts', offset: 10 }, 'a.ts:10-'],
  ['read', { path: 'a.ts' }, 'a.ts'],
  ['skill', { name: 'release', path: 'notes.md' }, 'release: notes.md'],
  ['update_plan', { entries: [{ status: 'completed' }, { status: 'pending' }] }, '1 of 2 done'],
  ['write', { path: 'note.txt', content: 'hello' }, 'note.txt'],
];

test('each tool says in one line what it is used on', () => {
  for (const [name, rawInput, detail] of LINES)
    assert.equal(summaryOf({ name, rawInput }, '/w').detail, detail, `${name} ${JSON.stringify(rawInput)}`);
});

test('a tool that is not known has the title of the server, and nothing hides in it', () => {
  assert.deepEqual(summaryOf({ name: 'db_query', title: 'db_query: {"sql":"select"}', rawInput: { sql: 'select' } }), {
    tool: 'db_query',
    detail: '{"sql":"select"}',
    isCode: false,
  });
  assert.equal(summaryOf({ name: 'bash', title: 'bash', rawInput: 7 }).detail, '');
  assert.equal(summaryOf({ name: 'bash', rawInput: { command: 'rm \u202e x' } }).detail, 'rm \\u202e x');
  assert.ok(summaryOf({ name: 'bash', rawInput: { command: 'x'.repeat(1_000_000) } }).detail.length < 400);
});

test('a proposal is what the tool would do', () => {
  assert.deepEqual(proposalOf('bash', { command: 'make', timeout_ms: 5 }), {
    kind: 'command',
    command: 'make',
    rest: [['timeout_ms', '5']],
  });
  assert.deepEqual(proposalOf('edit', { path: 'a', old_string: 'x', new_string: 'y', replace_all: true }), {
    kind: 'edit',
    path: 'a',
    oldText: 'x',
    newText: 'y',
    everywhere: true,
  });
  assert.equal(proposalOf('write', { path: 'a', content: '' }).kind, 'write');
  assert.equal(proposalOf('apply_patch', { patch: PATCH }).kind, 'patch');
  assert.equal(proposalOf('db', { sql: 'select', limit: 3 }).kind, 'fields');
  assert.equal(proposalOf('db', { filter: { a: 1 } }).kind, 'json');
});

test('arguments that the tool does not take are never left out', () => {
  const said = (tool: string, input: unknown) => JSON.stringify(proposalOf(tool, input));
  assert.match(said('edit', { path: 'a', old_string: 'x', new_string: 'y', extra: 'EXTRA' }), /EXTRA/);
  assert.match(said('write', { path: 'a', content: 'c', mode: 'EXTRA' }), /EXTRA/);
  assert.match(said('bash', { command: 'make', env: { A: 'EXTRA' } }), /EXTRA/);
  assert.match(said('bash', { command: ['EXTRA'] }), /EXTRA/);
  assert.match(said('apply_patch', 'EXTRA'), /EXTRA/);
  for (const input of [null, undefined, 7, []]) assert.equal(proposalOf('bash', input).kind, 'json');
});

test('a patch is shown line by line, and none is lost', () => {
  assert.deepEqual(patchFiles(PATCH), ['a.py', 'b.py', 'c.py']);
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('+', '-', ' ', '@', '*', '\n', 'x') }), (patch) => {
      const signs = { add: '+', del: '-', same: ' ', file: '', place: '', meta: '' };
      assert.equal(
        patchLines(patch)
          .map(({ kind, text }) => signs[kind] + text)
          .join('\n'),
        patch,
      );
    }),
  );
});

test('the question names what is at stake', () => {
  const ask = (name: string, input: unknown) =>
    questionOf({ toolCallId: 'c', name, title: name }, proposalOf(name, input), '/w');
  assert.equal(ask('bash', { command: 'make' }), 'Run this command?');
  assert.equal(ask('edit', { path: '/w/a.ts', old_string: 'x', new_string: 'y' }), 'Edit a.ts?');
  assert.equal(ask('write', { path: 'a\u202e.ts', content: '' }), 'Write a\\u202e.ts?');
  assert.equal(ask('apply_patch', { patch: PATCH }), 'Change 3 files?');
  assert.equal(ask('db_query', {}), 'Use db_query?');
});

test('a call without a result is interrupted once nothing runs', () => {
  const running = { sessionRunning: true, asked: false };
  assert.equal(callState({ status: 'in_progress' }, running), 'running');
  assert.equal(callState({ status: 'in_progress' }, { ...running, asked: true }), 'waiting');
  assert.equal(callState({ status: 'in_progress' }, { sessionRunning: false, asked: false }), 'interrupted');
  assert.equal(callState({ status: 'completed' }, { sessionRunning: false, asked: false }), 'completed');
});

test('a card says how its call ended', () => {
  const ended = (pixir: object, rawOutput: unknown = { ok: false }) => ({ _meta: { pixir }, rawOutput });
  assert.deepEqual(endTexts(ended({ durationMs: 1_200, exitCode: 2 }), 'failed'), ['exit 2', '1.2 s']);
  assert.deepEqual(endTexts(ended({ durationMs: 12, exitCode: 0 }, { ok: true }), 'completed'), []);
  const denied = ended({}, { ok: false, error: { kind: 'permission_denied', message: 'no' } });
  assert.deepEqual(endTexts(denied, 'failed'), ['not allowed']);
  assert.equal(failureText({ rawOutput: { ok: true } }), undefined);
  assert.deepEqual(endTexts({}, 'interrupted'), ['no result']);
});
