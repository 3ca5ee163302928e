/**
 * A data directory with one Session of 10,000 Events, recorded through the real store: what a person has after weeks of
 * work in one place. It pretends nothing that a Log could not hold.
 */
import { join } from 'node:path';
import { systemClock } from '../../../src/core/clock.ts';
import type { EventData, EventDraft, EventType, Json, ToolKind } from '../../../src/core/event.ts';
import { hashCall } from '../../../src/core/permission.ts';
import { openSqliteLog } from '../../../src/store/sqlite-log.ts';
import { REPOSITORY } from '../../support/processes.ts';

export const LONG = { sessionId: 'ses_the_long_one', title: 'Weeks of work', lastMessageId: 'msg_99_2' };
const TURNS = 100;
const FILES = ['src/parser.ts', 'src/printer.ts', 'test/parser.test.ts', 'docs/grammar.md'];

export async function recordLongSession(dataDir: string): Promise<void> {
  const migrationsDir = join(REPOSITORY, 'migrations');
  const log = openSqliteLog({ file: join(dataDir, 'pixir.db'), migrationsDir, clock: systemClock });
  const { sessionId, title } = LONG;
  const posture = { workspace: dataDir, mode: 'build', permissionCeiling: 'ask', owner: 'local' } as const;
  await log.append([
    { sessionId, type: 'session_created', data: posture },
    { sessionId, type: 'session_titled', data: { title, by: 'client' } },
  ]);
  // All at once: the Log commits what waits in one transaction.
  await Promise.all(Array.from({ length: TURNS }, (_, index) => log.append(turn(index, dataDir))));
  await log.close();
}

/** 100 Events; the first two have one fewer, for what the Session begins with. */
function turn(index: number, workspace: string): EventDraft[] {
  const turnId = `turn_${index}`;
  const event = <T extends EventType>(type: T, data: EventData[T]) =>
    ({ sessionId: LONG.sessionId, type, data }) as EventDraft;
  const said = (which: number, text: string) =>
    event('assistant_message', { turnId, messageId: `msg_${index}_${which}`, text });
  const thought = (which: number, summary: string) => {
    const messageId = `rsn_${index}_${which}`;
    return event('reasoning', { turnId, messageId, model: 'm', dialect: 'responses', item: null, summary });
  };
  const tokens = { input: 2_000 + index * 40, cached: 1_000, output: 300, reasoning: 80 };
  const usage = event('provider_usage', { turnId, model: 'm', iteration: 0, usage: tokens, contextWindow: 200_000 });
  const calls = (round: number) =>
    CALLS.flatMap(({ name, kind, args, title, result }, place) => {
      const callId = `call_${index}_${round}_${place}`;
      const path = FILES[(index + place) % FILES.length] ?? '';
      const { output, ...more } = result(join(workspace, path), index);
      const call = { callId, name, args: args(path, index) };
      const asked = { turnId, callId, permissionId: `perm_${callId}` };
      return [
        usage,
        event('tool_call', { turnId, ...call, kind, title: title(path) }),
        ...(kind === 'edit' || kind === 'execute'
          ? [
              event('permission_requested', {
                ...asked,
                argsHash: hashCall(name, call.args),
                expiresAt: '2030-01-01T00:00:00.000Z',
              }),
              event('permission_decision', { ...asked, decision: 'allow', by: 'local' }),
            ]
          : []),
        event('tool_result', { turnId, callId, ok: true, output, durationMs: 12 + place, ...more }),
      ];
    });
  return [
    event('turn_started', { turnId }),
    event('user_message', { turnId, messageId: `usr_${index}`, content: [{ type: 'text', text: question(index) }] }),
    thought(0, `**Looking at rule ${index}**\n\nThe lexer decides, then the parser.`),
    said(0, 'First a look at who uses it.'),
    ...calls(0),
    ...(index < 2 ? [] : [event('plan', { turnId, entries: plan(index) })]),
    thought(1, 'The first alternative wins too early.'),
    said(1, findings(index)),
    ...calls(1),
    usage,
    said(2, `Rule ${index} is done: \`npm test\` passes, and **nothing else** has changed.`),
    event('turn_finished', { turnId, outcome: 'completed', stopReason: 'end_turn' }),
  ];
}

function question(index: number): string {
  const more = index % 5 === 0 ? '\n\nMind the blank lines between blocks, and keep the old name working.' : '';
  return `Rule ${index} of the grammar refuses what it should take. Find out why and mend it.${more}`;
}

function findings(index: number): string {
  return [
    `The rule has **two** alternatives, and the first one wins too early (see [the grammar](docs/grammar.md)).`,
    `- \`peek()\` looks at one token only\n- the recovery after \`;\` skips ${index} tokens`,
    `\`\`\`ts\nexport function rule${index}(tokens: Tokens): Node {\n  const start = tokens.peek();\n  return { kind: 'rule', start, end: tokens.expect(';') };\n}\n\`\`\``,
    index % 4 === 0
      ? '| case | before | after |\n|---|---|---|\n| empty | refused | taken |'
      : 'Nothing calls it twice.',
  ].join('\n\n');
}

function plan(index: number): EventData['plan']['entries'] {
  return ['Find the rule', 'Mend it', 'Test it'].map((content, step) => ({
    content: `${content} (${index})`,
    priority: 'medium',
    status: step === 2 ? 'in_progress' : 'completed',
  }));
}

interface Call {
  name: string;
  kind: ToolKind;
  args(path: string, index: number): Json;
  title(path: string): string;
  result(path: string, index: number): Pick<EventData['tool_result'], 'output' | 'diffs' | 'exitCode'>;
}

const read: Call = {
  name: 'read',
  kind: 'read',
  args: (path) => ({ path }),
  title: (path) => `read ${path}`,
  result: (_path, index) => ({ output: lines(24, (line) => `${line}: const value${line} = rule(${index});`) }),
};

const grep: Call = {
  name: 'grep',
  kind: 'search',
  args: (path, index) => ({ pattern: `rule${index}`, path }),
  title: (path) => `grep ${path}`,
  result: (path, index) => ({ output: lines(6, (line) => `${path}:${line * 7}: rule${index}(tokens)`) }),
};

const edit: Call = {
  name: 'edit',
  kind: 'edit',
  args: (path, index) => ({ path, old_string: `peek(${index})`, new_string: `peek(${index + 1})` }),
  title: (path) => `edit ${path}`,
  result(path, index) {
    const oldText = lines(12, (line) => `  step(${line}, peek(${index}));`);
    const newText = oldText.replace(`step(6, peek(${index}))`, `step(6, peek(${index + 1}))`);
    return { output: `replaced 1 occurrence in ${path}`, diffs: [{ path, oldText, newText }] };
  },
};

const bash: Call = {
  name: 'bash',
  kind: 'execute',
  args: () => ({ command: 'npm test' }),
  title: () => 'npm test',
  result: (_path, index) => ({ output: lines(30, (line) => `ok ${line} - rule ${index}`), exitCode: 0 }),
};

const CALLS = [grep, read, read, read, edit, grep, read, bash, read, grep, read, read, bash];

function lines(count: number, line: (index: number) => string): string {
  return `${Array.from({ length: count }, (_, index) => line(index + 1)).join('\n')}\n`;
}
