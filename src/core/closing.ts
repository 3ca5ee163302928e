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
  | { outcome: 'cancelled' }
  | { outcome: 'interrupted'; error: Failure };

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

/** Why the calls and permissions that are still open will never be settled otherwise. */
function openCallError(outcome: TurnOutcome): Failure {
  switch (outcome) {
    case 'cancelled':
      return { kind: 'cancelled', message: 'the Turn was cancelled' };
    case 'timed_out':
      return { kind: 'timeout', message: 'the Turn ran out of time' };
    default:
      return { kind: 'outcome_unknown', message: 'the call was cut off; it may or may not have taken effect' };
  }
}

/**
 * @param live text that was streaming and never completed: recorded as a partial message, so that nobody loses what
 *   they have read.
 * @returns the Events to append, the last of them `turn_finished`; [] when no Turn is open.
 */
export function closingEvents(state: SessionState, ending: TurnEnding, live: LiveDraft | undefined): EventDraft[] {
  if (!state.turn) return [];
  const { sessionId } = state;
  const { turnId } = state.turn;
  const events = cutOffItem(state, live, ending.outcome === 'completed' ? 'failed' : ending.outcome);
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
  const error = 'error' in ending ? { error: ending.error } : {};
  const data = { turnId, outcome: ending.outcome, stopReason: stopReasonOf(ending), ...error };
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

function failedCall({ sessionId, turn }: SessionState, callId: string, error: Failure): EventDraft {
  const output = JSON.stringify({ ok: false, error });
  return { sessionId, type: 'tool_result', data: { turnId: turn?.turnId ?? '', callId, ok: false, output, error } };
}
