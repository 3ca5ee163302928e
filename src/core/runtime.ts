/** What the whole runtime is made of. Composed once, handed to Conversation; nothing here is looked up from anywhere else. */
import * as z from 'zod';
import type { Blobs } from './blobs.ts';
import type { Workspaces } from './directories.ts';
import type { Json, PermissionMode, ReasoningEffort } from './event.ts';
import { createUsage, type RuntimeLimits, type Usage } from './limits.ts';
import type { VerifyLog } from './log.ts';
import type { Provider, ToolSpec } from './provider.ts';
import type { SessionPorts } from './session.ts';
import { type OpenServers, Toolboxes } from './session-tools.ts';
import { Sessions } from './sessions.ts';
import { shared } from './shared.ts';
import type { FindSkills } from './skills.ts';
import type { Tool } from './tool.ts';

/** A model that clients may choose. `contextWindow` in tokens; null when it is not known. */
export interface ModelInfo {
  id: string;
  name: string;
  contextWindow: number | null;
}

export interface RuntimeSettings {
  /** Not empty; the first is the default. */
  models: readonly [ModelInfo, ...ModelInfo[]];
  effort: ReasoningEffort;
  /** The loosest permission mode that a Session may have. */
  permissionCeiling: PermissionMode;
  permissionTimeoutMs: number;
  /** Null: no limit. */
  turnTimeoutMs: number | null;
  maxIterations: number | null;
  /** Whether a conversation that grows too long is compacted without being asked. */
  autoCompact: boolean;
  /** What happens to a Turn that a crash cut. */
  recovery: 'resume' | 'interrupt';
  limits: RuntimeLimits;
  /** What confines the commands that tools run, for clients to know; absent where none are run. */
  sandbox?: () => Promise<'bubblewrap' | 'none'>;
}

/** Long enough for somebody who types, short enough for a new file to be found. */
const FILES_KEPT_MS = 5_000;

export interface RuntimeParts extends SessionPorts, Workspaces {
  blobs: Blobs;
  provider: Provider;
  tools: readonly Tool[];
  /** Reaches the servers of tools that clients name. */
  openServers: OpenServers;
  findSkills: FindSkills;
  /** The files of a workspace that git would track, relative to it, in order; not more than what is useful. */
  listFiles(workspace: string, signal: AbortSignal): Promise<string[]>;
  verifyLog: VerifyLog;
  /** Whether the disk has room for what a new Turn records. */
  hasRoom(): Promise<boolean>;
  settings: RuntimeSettings;
}

export interface Runtime extends RuntimeParts {
  sessions: Sessions;
  usage: Usage;
  toolboxes: Toolboxes;
  toolTable: ReadonlyMap<string, Tool>;
  /** What the model is told of the tools, sorted by name so that the bytes never change. */
  toolSpecs(): readonly ToolSpec[];
}

export function createRuntime(parts: RuntimeParts): Runtime {
  let specs: readonly ToolSpec[] | undefined;
  const toolboxes = new Toolboxes(parts.openServers, parts.clock, parts.onError);
  return {
    ...parts,
    listFiles: shared(parts.listFiles, (forget) => void parts.clock.after(FILES_KEPT_MS, forget)),
    verifyLog: shared(parts.verifyLog),
    sessions: new Sessions(parts, parts.settings.permissionTimeoutMs, (id, held) => toolboxes.held(id, held)),
    toolboxes,
    usage: createUsage(parts.log, parts.settings.limits),
    toolTable: new Map(parts.tools.map((tool) => [tool.name, tool])),
    // Not before the first Turn needs them: the conversion costs more than the rest of the start.
    toolSpecs: () => (specs ??= describeTools(parts.tools)),
  };
}

export function describeTools(tools: readonly Tool[]): ToolSpec[] {
  return [...tools]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, description, schema, parameters: given }) => {
      if (given !== undefined) return { name, description, parameters: given };
      const { $schema, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
      return { name, description, parameters: parameters as Json };
    });
}
