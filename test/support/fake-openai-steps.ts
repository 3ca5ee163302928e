/** What the fake model does, in words that belong to no dialect, so that one test can drive every provider. */
import type { Json, Usage } from '../../src/core/event.ts';

/** A piece of text, or a gate: the model says nothing more until it is open. */
export type Delta = string | Promise<unknown>;

export type ModelStep =
  /** `open`: the server never says that the item is complete. */
  | { type: 'message' | 'refusal' | 'thought'; deltas: readonly Delta[]; open?: true }
  /** A string is sent as it is, also when it is no JSON. */
  | { type: 'call'; callId: string; name: string; args: Json }
  | { type: 'usage'; usage: Usage }
  | { type: 'incomplete'; reason: 'max_output_tokens' | 'content_filter' }
  | { type: 'hold'; until: Promise<unknown> }
  /** Destroys the socket; ends the body without the terminal event; sends nothing more. */
  | { type: 'cut' | 'end' | 'stall' }
  | { type: 'garbage'; data: string }
  /** An error inside the stream. */
  | { type: 'error'; code: string; message: string };

/** What the server writes, or does instead of writing. */
export type Block = string | Promise<unknown> | 'cut' | 'end' | 'stall';

export const message = (...deltas: Delta[]): ModelStep => ({ type: 'message', deltas });
export const thought = (...deltas: Delta[]): ModelStep => ({ type: 'thought', deltas });
export const refusal = (...deltas: Delta[]): ModelStep => ({ type: 'refusal', deltas });
export const call = (callId: string, name: string, args: Json): ModelStep => ({ type: 'call', callId, name, args });

/** The gate that a test opens by hand. */
export function gate(): { open(): void; passed: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: () => resolve(), passed: promise };
}
