/** The audit trail of one Session: when, who, what, one line each, from its Log alone. What was said is not part of it. */
import type { Event } from '../core/event.ts';
import { ruleText } from '../core/rule.ts';

/** Events from before they named a principal. */
const NOT_RECORDED = '-';

/** @returns an Event's line; '' for one that is nobody's doing. To be given the Events of one Session, in order. */
export function auditor(): (event: Event) => string {
  /** What a decision is about is shown by the call before it. */
  const titles = new Map<string, string>();

  function deed(event: Event): string[] | undefined {
    switch (event.type) {
      case 'session_created':
        return [event.data.owner, 'create', event.data.workspace];
      case 'session_configured': {
        const { by = NOT_RECORDED, ...change } = event.data;
        return [by, 'configure', JSON.stringify(change)];
      }
      case 'user_message':
        return [event.data.by ?? NOT_RECORDED, 'prompt', event.data.turnId];
      case 'tool_call':
        titles.set(event.data.callId, event.data.title);
        return undefined;
      case 'permission_decision': {
        const { by, decision, callId } = event.data;
        return [by, decision, titles.get(callId) ?? callId];
      }
      case 'permission_rule': {
        const { by, ruleId, decision, text } = event.data;
        return [by, 'rule', `${ruleId} ${ruleText(decision, text)}`];
      }
      case 'permission_rule_revoked':
        return [event.data.by, 'revoke', event.data.ruleId];
      case 'turn_finished': {
        const { outcome, by = NOT_RECORDED, turnId } = event.data;
        return outcome === 'cancelled' ? [by, 'cancel', turnId] : undefined;
      }
      default:
        return undefined;
    }
  }

  return (event) => {
    const columns = deed(event);
    if (!columns) return '';
    // A line must not be made to look like another one by what somebody named a directory.
    const visible = columns.map((column) => column.replaceAll(/\p{Cc}/gu, '\uFFFD'));
    return `${[event.ts, event.sessionId, ...visible].join('\t')}\n`;
  };
}
