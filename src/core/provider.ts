/**
 * The provider port: a model behind its dialect. A provider decides nothing: no tools, no permissions, no history. It
 * turns one request into a stream of events and repeats a call only while nothing of it has been seen.
 */
import type { LoadedBlobs } from './blobs.ts';
import type { ContentBlock, Json, ReasoningEffort, Usage } from './event.ts';

/** One step of the conversation as every dialect can say it, folded from the Log. */
export type HistoryItem =
  | { type: 'user'; content: ContentBlock[] }
  | { type: 'assistant'; text: string }
  | { type: 'reasoning'; model: string; dialect: string; item: Json }
  | { type: 'tool_call'; callId: string; name: string; args: Json }
  | { type: 'tool_result'; callId: string; output: string };

/** `parameters` is JSON Schema. */
export interface ToolSpec {
  name: string;
  description: string;
  parameters: Json;
}

export interface ProviderRequest {
  model: string;
  /** `default` leaves the choice to the model. */
  effort: ReasoningEffort;
  /** The system prompt: byte-stable per mode. */
  instructions: string;
  /** Volatile facts, sent as the first input item after the instructions. Empty: no item. */
  developerContext: string;
  history: readonly HistoryItem[];
  /** What the history refers to. A blob that is missing here is to be told as text. */
  blobs: LoadedBlobs;
  tools: readonly ToolSpec[];
  /** Routes calls with the same prefix to the same cache; holds nothing private. */
  cacheKey: string;
}

export type FinishReason = 'stop' | 'max_tokens' | 'refusal';

/**
 * What a stream yields, in this order: any number of items, then exactly one `finished`. An item is zero or more
 * `delta`s of one kind and then the completed item (`message` for text, `reasoning` for a thought); items never
 * interleave. A message's text equals its deltas joined; a reasoning item's summary does where it had deltas.
 */
export type ProviderEvent =
  | { type: 'delta'; kind: 'message' | 'thought'; text: string }
  | { type: 'message'; text: string }
  | { type: 'reasoning'; item: Json; dialect: string; summary: string }
  | { type: 'tool_call'; callId: string; name: string; args: Json }
  | { type: 'finished'; reason: FinishReason; usage: Usage | null };

export interface Provider {
  /**
   * @throws CoreError with one of the provider codes; the abort's reason when `signal` aborts. A stream that ends
   *   without the dialect's terminal event throws `network`.
   */
  stream(request: ProviderRequest, signal: AbortSignal): AsyncIterable<ProviderEvent>;
}
