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
  const events: EventDraft[] = [];
  if (live?.text && live.kind === 'message') {
    const partial = ending.outcome === 'completed' ? 'failed' : ending.outcome;
    const data = { turnId, messageId: live.messageId, text: live.text, partial };
    events.push({ sessionId, type: 'assistant_message', data });
  }
  if (live?.text && live.kind === 'thought') {
    const data = { turnId, messageId: live.messageId, model: '', dialect: '', item: null, summary: live.text };
    events.push({ sessionId, type: 'reasoning', data });
  }
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
    const data = { turnId, callId, ok: false, output: JSON.stringify({ ok: false, error }), error };
    events.push({ sessionId, type: 'tool_result', data });
  }
  const error = 'error' in ending ? { error: ending.error } : {};
  const data = { turnId, outcome: ending.outcome, stopReason: stopReasonOf(ending), ...error };
  events.push({ sessionId, type: 'turn_finished', data });
  return events;
}
