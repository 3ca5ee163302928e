/** The words of a script: what a scripted answer consists of, and the two ways to say text. Pure. */
import type { Json } from '../core/event.ts';
import type { FinishReason, ProviderEvent } from '../core/provider.ts';

/** An event, or something that happens instead of one. A named gate is opened by the test that waits there. */
export type ScriptStep =
  | ProviderEvent
  | { type: 'wait'; gate: string | Promise<unknown> }
  | { type: 'fail'; error: Error }
  | { type: 'hang' };

/** A whole message, streamed word by word. */
export function say(text: string): ProviderEvent[] {
  return [...deltas('message', text), { type: 'message', text }];
}

/** A whole thought, streamed word by word. There is nothing to replay to a model. */
export function think(text: string): ProviderEvent[] {
  return [...deltas('thought', text), { type: 'reasoning', item: null, dialect: 'scripted', summary: text }];
}

export function call(callId: string, name: string, args: Json): ProviderEvent {
  return { type: 'tool_call', callId, name, args };
}

export function finish(reason: FinishReason = 'stop'): ProviderEvent {
  return { type: 'finished', reason, usage: null };
}

/** The beginning of an item: its words without the item. */
export function deltas(kind: 'message' | 'thought', text: string): ProviderEvent[] {
  const words = text.match(/\S+\s*|\s+/g) ?? [];
  return words.map((word) => ({ type: 'delta', kind, text: word }));
}
