/**
 * The tool port. A tool declares everything that others need to know of it, so nothing else in the runtime ever names
 * a tool. A tool never asks for permission and never records: the Executor does both around it.
 */
import type { z } from 'zod';
import type { ClientServices } from './client-services.ts';
import type { FileDiff, Json, Location, PlanEntry, ToolKind } from './event.ts';
import type { Roots } from './roots.ts';
import type { Skill } from './skills.ts';

/** What running the call can do: `read` never needs permission; the others follow the permission mode. */
export type Effect = 'read' | 'write' | 'execute' | 'network';

/** What is shown of a call while it runs: all output so far, bounded, or the client's terminal that it runs in. */
export type Progress = string | { readonly terminalId: string };

export interface ToolContext extends Roots {
  callId: string;
  /** Aborts when the Turn is cancelled or times out; the tool then stops at once and leaves no process behind. */
  signal: AbortSignal;
  /** Shows something while the tool runs; it replaces what was shown before. */
  progress(output: Progress): void;
  /** What the client whose prompt runs does for tools; the tool's own way is there for every failure of it. */
  client?: ClientServices | undefined;
}

/** What a tool hands back. `output` is what the model reads: bounded, and marked where it was cut. */
export interface ToolResult {
  /** False when the tool ran but what it ran failed (a command's exit code): the model still reads `output`. */
  ok: boolean;
  output: string;
  diffs?: FileDiff[];
  /** Of a process, once it has ended; null when a signal killed it. */
  exitCode?: number | null;
  /** The complete new plan, where the call set one. */
  plan?: PlanEntry[];
  /** A skill that the call took up: the model is shown it behind the result. */
  skill?: Skill;
}

export interface Tool<S extends z.ZodObject = z.ZodObject> {
  name: string;
  /** What the model is told; part of the byte-stable prompt. */
  description: string;
  kind: ToolKind;
  /** The effect of a call with these arguments. When in doubt, the graver one. */
  effect(args: z.infer<S>): Effect;
  schema: S;
  /** The service without which the tool is of no use: it is not there for Turns whose client lacks it. */
  needs?: keyof ClientServices;
  /** What the model is told of the arguments in place of `schema`, where somebody else checks them: JSON Schema. */
  parameters?: Json;
  /** One line that tells a person what this call does. */
  title(args: z.infer<S>): string;
  /** The files it touches, absolute, where they lie inside a root. */
  locations?(args: z.infer<S>, roots: Roots): Location[];
  /**
   * What a decision on this call covers when it is remembered: exactly what has the same `key`, which `text` tells a
   * person after the tool's name. Without it: the same arguments.
   */
  rule?(args: z.infer<S>): { key: Json; text: string };
  /** @throws CoreError with one of the tool codes; anything else thrown is a defect. */
  run(args: z.infer<S>, context: ToolContext): Promise<ToolResult>;
  /** The same checks as `run` and a sentence that says what it would do; no effect at all. */
  dryRun(args: z.infer<S>, context: ToolContext): Promise<ToolResult>;
}

/** Gives the tool's own argument type to its functions, and hands it out as a plain Tool for the table. */
export function defineTool<S extends z.ZodObject>(tool: Tool<S>): Tool {
  return tool as unknown as Tool;
}
