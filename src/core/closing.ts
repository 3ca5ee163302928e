/**
 * How an open Turn is closed, by whatever ends it: success, failure, cancel, timeout, or a crash. Pure: from the state
 * it derives the Events that are missing, so that they are committed in one append and every Turn ends exactly once.
 */
import type { EventDraft, Failure, StopReason, TurnOutcome } from './event.ts';
import type { LiveDraft } from './log.ts';
import type { SessionState } from './session-state.ts';

export type TurnEnding =
  | { outcome: 'completed'; stopReason: Exclude<StopReason, 'cancelled'> }
  | { outcome: 'failed'; error: Failure }
  | { outcome: 'timed_out'; error: Failure }
  /** `by`: the principal who cancelled. */
  | { outcome: 'cancelled'; by?: string }
  | { outcome: 'interrupted'; error: Failure };

/** How a Turn ends that a crash cut and that does not go on. */
export const CUT_OFF = {
  outcome: 'interrupted',
  error: { kind: 'interrupted', message: 'The server stopped while this Turn ran.' },
} satisfies TurnEnding;

/** A failed Turn is content and `end_turn`: JSON-RPC errors are kept for faults of the protocol. */
function stopReasonOf(ending: TurnEnding): StopReason {
  switch (ending.outcome) {
    case 'completed':
      return ending.stopReason;
    case 'failed':
    case 'timed_out':
      return 'end_turn';
    case 'cancelled':
    case 'interrupted':
      return 'cancelled';
  }
}

const CANCELLED: Failure = { kind: 'cancelled', message: 'the Turn was cancelled' };

/** Why the calls and permissions that are still open will never be settled otherwise. */
function openCallError(outcome: TurnOutcome): Failure {
  switch (outcome) {
    case 'cancelled':
      return CANCELLED;
    case 'timed_out':
      return { kind: 'timeout', message: 'the Turn ran out of time' };
    default:
      return { kind: 'outcome_unknown', message: 'the call was cut off; it may or may not have taken effect' };
  }
}

/**
 * @param live text that was streaming and never completed: recorded as a partial message, so that nobody loses what
 *   they have read.
 * @param entitle whether a Session without a title gets one from its first prompt.
 * @returns the Events to append, the last of them `turn_finished`; [] when no Turn is open.
 */
export function closingEvents(
  state: SessionState,
  ending: TurnEnding,
  live: LiveDraft | undefined,
  entitle = true,
): EventDraft[] {
  if (!state.turn) return [];
  const { sessionId } = state;
  const { turnId } = state.turn;
  const events = [
    ...cutOffItem(state, live, ending.outcome === 'completed' ? 'failed' : ending.outcome),
    ...cutOffCompaction(state, 'error' in ending ? ending.error : CANCELLED),
  ];
  for (const { permissionId, call } of state.permissions.values()) {
    const by = ending.outcome === 'cancelled' ? 'cancel' : ending.outcome === 'timed_out' ? 'timeout' : 'recovery';
    const data = { turnId, permissionId, callId: call.callId, decision: 'deny' as const, by };
    events.push({ sessionId, type: 'permission_decision', data });
  }
  const undecided = new Set([...state.permissions.values()].map((permission) => permission.call.callId));
  for (const { callId } of state.openCalls.values()) {
    const error = undecided.has(callId)
      ? { kind: 'permission_denied', message: 'nobody decided before the Turn ended; nothing was run' }
      : openCallError(ending.outcome);
    events.push(failedCall(state, callId, error));
  }
  if (entitle && state.title === null && state.suggestedTitle !== null) {
    events.push({ sessionId, type: 'session_titled', data: { title: state.suggestedTitle, by: 'runtime' } });
  }
  const error = 'error' in ending ? { error: ending.error } : {};
  const by = 'by' in ending ? { by: ending.by } : {};
  const data = { turnId, outcome: ending.outcome, stopReason: stopReasonOf(ending), ...error, ...by };
  events.push({ sessionId, type: 'turn_finished', data });
  return events;
}

/**
 * What must be recorded before a Turn that was cut can go on: the text so far, an unknown outcome for every call that may
 * have run, and that it goes on. Calls that wait for a permission stay open: nothing of them has run.
 */
export function mendingEvents(state: SessionState, live: LiveDraft | undefined): EventDraft[] {
  if (!state.turn) return [];
  const { sessionId } = state;
  const { turnId } = state.turn;
  const waiting = new Set([...state.permissions.values()].map(({ call }) => call.callId));
  const ran = [...state.openCalls.keys()].filter((callId) => !waiting.has(callId));
  return [
    ...cutOffItem(state, live, 'interrupted'),
    ...cutOffCompaction(state, CUT_OFF.error),
    ...ran.map((callId) => failedCall(state, callId, openCallError('interrupted'))),
    { sessionId, type: 'turn_continued', data: { turnId } },
  ];
}

/** The live item as far as it came, so that nobody loses what they have read. */
function cutOffItem(
  { sessionId, turn }: SessionState,
  live: LiveDraft | undefined,
  partial: Exclude<TurnOutcome, 'completed'>,
): EventDraft[] {
  if (!turn || !live?.text) return [];
  const { turnId } = turn;
  const { messageId, text } = live;
  if (live.kind === 'message') {
    return [{ sessionId, type: 'assistant_message', data: { turnId, messageId, text, partial } }];
  }
  const data = { turnId, messageId, model: '', dialect: '', item: null, summary: text };
  return [{ sessionId, type: 'reasoning', data }];
}

/** A compaction that is not complete has not happened. */
function cutOffCompaction({ sessionId, turn }: SessionState, error: Failure): EventDraft[] {
  if (turn?.compaction?.status !== 'in_progress') return [];
  const { compactionId } = turn.compaction;
  return [{ sessionId, type: 'compaction_failed', data: { turnId: turn.turnId, compactionId, error } }];
}

function failedCall({ sessionId, turn }: SessionState, callId: string, error: Failure): EventDraft {
  const output = JSON.stringify({ ok: false, error });
  return { sessionId, type: 'tool_result', data: { turnId: turn?.turnId ?? '', callId, ok: false, output, error } };
}
