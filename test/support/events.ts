/** Short ways to write Events in tests of pure functions. */
import type { Event, EventData, EventType } from '../../src/core/event.ts';

export const TURN = 'turn_1';

/** Numbers the given `[type, data]` pairs into a Log; `turnId` is filled in where it is left out. */
export function logOf(...pairs: [EventType, Record<string, unknown>][]): Event[] {
  return pairs.map(([type, data], seq) => eventOf(type, data as never, seq));
}

export function eventOf<T extends EventType>(type: T, data: Partial<EventData[T]>, seq = 0): Event<T> {
  const id = seq.toString(16).padStart(16, '0');
  const ts = new Date(Date.UTC(2026, 0, 1, 0, 0, seq)).toISOString();
  return { id, sessionId: 's', seq, ts, type, data: { turnId: TURN, ...data } } as unknown as Event<T>;
}

export const created: [EventType, Record<string, unknown>] = [
  'session_created',
  { workspace: '/w', mode: 'build', permissionCeiling: 'auto', owner: 'local' },
];

export const said = (text: string) => ({ content: [{ type: 'text', text }], messageId: `usr_${text}` });
