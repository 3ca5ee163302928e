/** Kinds of Events, for colour and for filtering, and what a filter lets through. A type that is not known is no reason to hide it. */
import type { LoggedEvent } from '../../../src/client/connect.ts';

export type Family = 'session' | 'turn' | 'message' | 'tool' | 'permission' | 'context' | 'other';

export const FAMILY_NAMES: Record<Family, string> = {
  session: 'Session',
  turn: 'Turns',
  message: 'Messages',
  tool: 'Tools',
  permission: 'Permissions',
  context: 'Plan, skills, context',
  other: 'Other',
};
export const FAMILIES = Object.keys(FAMILY_NAMES) as Family[];

const BEGINNINGS: [begins: string, family: Family][] = [
  ['session_', 'session'],
  ['turn_', 'turn'],
  ['user_message', 'message'],
  ['assistant_message', 'message'],
  ['reasoning', 'message'],
  ['tool_', 'tool'],
  ['permission_', 'permission'],
  ['plan', 'context'],
  ['skill_', 'context'],
  ['compaction_', 'context'],
  ['history_compacted', 'context'],
  ['provider_usage', 'context'],
];

export function familyOf(type: string): Family {
  return BEGINNINGS.find(([begins]) => type.startsWith(begins))?.[1] ?? 'other';
}

export interface Filter {
  family: Family | 'all';
  text: string;
}

export const NO_FILTER: Filter = { family: 'all', text: '' };

export function isFiltering({ family, text }: Filter): boolean {
  return family !== 'all' || text.trim() !== '';
}

/** Every word must be in what the list shows of an Event, or in its ids. */
export function matcherOf({ family, text }: Filter): (event: LoggedEvent) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (event) => {
    if (family !== 'all' && familyOf(event.type) !== family) return false;
    if (words.length === 0) return true;
    const { seq, id, type, ts, chk, by = '', turnId = '' } = event;
    const shown = `${seq} ${type} ${by} ${chk} ${id} ${turnId} ${ts}`.toLowerCase();
    return words.every((word) => shown.includes(word));
  };
}
