/** What every connection shares: the runtime and how the agent introduces itself. */
import type { Runtime } from '../core/runtime.ts';

export interface Agent {
  runtime: Runtime;
  name: string;
  version: string;
  /** Hears of faults that a client is told only as "internal error". */
  onError(error: unknown): void;
}
