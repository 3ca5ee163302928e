/**
 * How full the model's context is, as people are shown it: the same live, on every replay and in the session state. Pure;
 * it must never guess where a provider has not said.
 */
import type { Event, Usage } from './event.ts';

/** In tokens. */
export interface ContextUsage {
  used: number;
  size: number;
}

/** What the Event says of it; undefined where that is nothing. */
export function contextUsage({
  type,
  data: { usage, contextWindow: size },
}: Event<'provider_usage' | 'history_compacted'>): ContextUsage | undefined {
  if (!usage || size === null) return undefined;
  // Until the next call says it exactly, the summary is all that is known to be in the context.
  const used = type === 'provider_usage' ? usage.input + usage.output : summaryTokens(usage);
  return { used: Math.min(used, size), size };
}

export function summaryTokens({ output, reasoning }: Usage): number {
  return output - reasoning;
}
