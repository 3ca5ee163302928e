/** Short ways to write Events in the tests of the store, and one Event of every type. */
import { CoreError, type ErrorCode } from '../../src/core/errors.ts';
import { EVENT_TYPES, type EventData, type EventDraft, type TurnOutcome } from '../../src/core/event.ts';
import type { LiveDraft } from '../../src/core/log.ts';

/** For assert.rejects and assert.throws. */
export function failsWith(code: ErrorCode, message?: RegExp): (thrown: unknown) => boolean {
  return (thrown) => thrown instanceof CoreError && thrown.code === code && (message?.test(thrown.message) ?? true);
}

export function created(sessionId: string, owner = 'ada', workspace = '/w'): EventDraft {
  return { sessionId, type: 'session_created', data: { workspace, mode: 'build', permissionCeiling: 'auto', owner } };
}

export function titled(sessionId: string, title: string): EventDraft {
  return { sessionId, type: 'session_titled', data: { title, by: 'client' } };
}

export function said(sessionId: string, text: string, messageId = 'msg_1'): EventDraft {
  return { sessionId, type: 'assistant_message', data: { turnId: 'turn_1', messageId, text } };
}

export function turnStarted(sessionId: string, turnId = 'turn_1'): EventDraft {
  return { sessionId, type: 'turn_started', data: { turnId } };
}

export function turnFinished(sessionId: string, turnId = 'turn_1', outcome: TurnOutcome = 'completed'): EventDraft {
  return { sessionId, type: 'turn_finished', data: { turnId, outcome, stopReason: 'end_turn' } };
}

/** What has streamed so far of the message `msg_1`. */
export function draftOf(text: string): LiveDraft {
  return { turnId: 'turn_1', messageId: 'msg_1', kind: 'message', text };
}

const turnId = 'turn_1';
const failure = { kind: 'timeout', message: 'it took too long', details: { seconds: 120, path: ['a', null] } };

/** Total over the vocabulary: a new type of Event does not compile until it has its sample. */
const samples: EventData = {
  session_created: { workspace: '/w', mode: 'build', permissionCeiling: 'ask', owner: 'ada' },
  session_configured: {
    mode: 'plan',
    model: 'm-1',
    reasoningEffort: 'high',
    permissionMode: 'read_only',
    additionalDirectories: ['/x'],
  },
  session_titled: { title: 'Tänze \u2028 \ud83d\ude00', by: 'runtime' },
  turn_started: { turnId, promptKey: 'key-1', overrides: { permissionMode: 'ask', dryRun: true } },
  turn_continued: { turnId },
  user_message: {
    turnId,
    messageId: 'msg_0',
    promptKey: 'key-1',
    content: [
      { type: 'text', text: 'hello' },
      { type: 'resource_link', uri: 'file:///w/a.ts', name: 'a.ts', size: 12 },
    ],
  },
  assistant_message: { turnId, messageId: 'msg_1', text: 'half a sen', partial: 'interrupted' },
  reasoning: {
    turnId,
    messageId: 'msg_2',
    model: 'm-1',
    dialect: 'responses',
    item: { type: 'reasoning', deep: [1, { a: null }] },
    summary: 'thinking',
  },
  provider_usage: {
    turnId,
    model: 'm-1',
    iteration: 0,
    usage: { input: 10, cached: 4, output: 3, reasoning: 1 },
    contextWindow: null,
  },
  tool_call: {
    turnId,
    callId: 'call_1',
    name: 'read',
    args: { path: 'a.ts', lines: [1, 2.5] },
    title: 'Read a.ts',
    kind: 'read',
    locations: [{ path: '/w/a.ts', line: 1 }],
  },
  tool_result: {
    turnId,
    callId: 'call_1',
    ok: false,
    output: '',
    error: failure,
    diffs: [{ path: '/w/a.ts', oldText: null, newText: 'x' }],
    dryRun: true,
    durationMs: 1_500,
    exitCode: null,
  },
  permission_requested: {
    turnId,
    permissionId: 'perm_1',
    callId: 'call_1',
    argsHash: 'ab',
    expiresAt: '2026-01-01T00:30:00.000Z',
    rule: { keyHash: 'cd', text: '"read" with {}' },
  },
  permission_decision: { turnId, permissionId: 'perm_1', callId: 'call_1', decision: 'deny', by: 'timeout' },
  permission_rule: {
    ruleId: 'rule_1',
    decision: 'allow',
    tool: 'read',
    keyHash: 'cd',
    text: '"read" with {}',
    by: 'ada',
  },
  permission_rule_revoked: { ruleId: 'rule_1', by: 'ada' },
  compaction_started: { turnId, compactionId: 'cmp_1', trigger: 'pressure' },
  history_compacted: {
    turnId,
    compactionId: 'cmp_1',
    summary: 'What was said.',
    model: 'm-1',
    usage: { input: 10, cached: 4, output: 3, reasoning: 1 },
    contextWindow: 1_000,
  },
  compaction_failed: { turnId, compactionId: 'cmp_2', error: failure, goesOn: true },
  skill_activation: {
    turnId,
    name: 'review',
    description: 'How we review',
    scope: 'workspace',
    path: '/w/.agents/skills/review/SKILL.md',
    contentHash: 'ab12',
    content: '---\nname: review\n---\n',
    activatedBy: 'user',
  },
  plan: { turnId, entries: [{ content: 'first', priority: 'high', status: 'pending' }] },
  turn_finished: { turnId, outcome: 'failed', stopReason: 'end_turn', error: failure },
};

/** One Event of every type, `session_created` first. */
export function everyDraft(sessionId: string): EventDraft[] {
  return EVENT_TYPES.map((type) => ({ sessionId, type, data: samples[type] }) as EventDraft);
}
