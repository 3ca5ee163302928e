/** What became of a tool call, as far as its updates say. Pure. */
import type { ToolCall, ToolCallContent } from '@agentclientprotocol/sdk';
import { comparisonOf } from './comparison.ts';
import { isObject } from './proposal.ts';
import { durationText } from './words.ts';

export type CallState = 'waiting' | 'running' | 'completed' | 'failed' | 'interrupted';

export type DiffContent = Extract<ToolCallContent, { type: 'diff' }>;

interface Around {
  sessionRunning: boolean;
  /** A person is asked whether it may run. */
  asked: boolean;
}

export function callState({ status }: Partial<ToolCall>, { sessionRunning, asked }: Around): CallState {
  if (status === 'completed' || status === 'failed') return status;
  // Its result would be in the Log: nobody knows how it ended.
  if (!sessionRunning) return 'interrupted';
  return asked || status === 'pending' ? 'waiting' : 'running';
}

interface Meta {
  /** ISO 8601: when it began, or when it ended. */
  at?: string;
  durationMs?: number;
  exitCode?: number | null;
}

export function metaOf(call: Partial<ToolCall>): Meta {
  const meta = call._meta?.pixir;
  return isObject(meta) ? (meta as Meta) : {};
}

/** Why it failed, as a person says it; undefined where its own output says it. */
export function failureText(call: Partial<ToolCall>): string | undefined {
  const output = call.rawOutput;
  const error = isObject(output) && isObject(output.error) ? output.error : undefined;
  if (error === undefined) return undefined;
  return FAILURES[String(error.kind)] ?? 'failed';
}

const FAILURES: Record<string, string> = {
  permission_denied: 'not allowed',
  cancelled: 'stopped',
  timeout: 'timed out',
  outcome_unknown: 'outcome unknown',
  not_found: 'not found',
  no_match: 'no match',
  outside_workspace: 'outside the workspace',
};

/** Less is no news. */
const WORTH_SAYING_MS = 100;

/** What a card says behind its title when the call has ended: `exit 1`, `1.2 s`. */
export function endTexts(call: Partial<ToolCall>, state: CallState): string[] {
  const { durationMs, exitCode } = metaOf(call);
  const texts: string[] = [];
  if (state === 'interrupted') texts.push('no result');
  if (state === 'failed' && typeof exitCode !== 'number') texts.push(failureText(call) ?? 'failed');
  if (typeof exitCode === 'number' && exitCode !== 0) texts.push(`exit ${exitCode}`);
  if (typeof durationMs === 'number' && durationMs >= WORTH_SAYING_MS) texts.push(durationText(durationMs));
  return texts;
}

export function diffsOf({ content }: Partial<ToolCall>): DiffContent[] {
  return (content ?? []).filter((part) => part.type === 'diff');
}

/** Lines added and removed by all its diffs; undefined where they were not compared. */
export function changedLines(diffs: readonly DiffContent[]): { added: number; removed: number } | undefined {
  let added = 0;
  let removed = 0;
  for (const diff of diffs) {
    const comparison = comparisonOf(diff);
    if (comparison.kind === 'too_large') return undefined;
    added += comparison.added;
    removed += comparison.removed;
  }
  return { added, removed };
}
