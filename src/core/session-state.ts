/**
 * What the runtime must know of a Session, folded from its Log: posture, the open Turn, open calls, pending
 * permissions. Rebuilt by reading the Log; holds nothing that is not in it.
 */
import { hash } from 'node:crypto';
import { type ContextUsage, contextUsage } from './context-usage.ts';
import { CoreError, unreachable } from './errors.ts';
import type {
  ContentBlock,
  Event,
  EventData,
  Json,
  Mode,
  PermissionMode,
  PlanEntry,
  ReasoningEffort,
  RuleOffer,
  StopReason,
  ToolKind,
} from './event.ts';
import { askedOf, titleOf } from './prompt-text.ts';

interface OpenCall {
  callId: string;
  name: string;
  title: string;
  kind: ToolKind;
  args: Json;
}

/** A permission that was asked for and not decided. `expiresAt` in milliseconds since 1970. */
export interface PendingPermission {
  permissionId: string;
  call: OpenCall;
  argsHash: string;
  expiresAt: number;
  /** What a remembered decision would cover. */
  rule?: RuleOffer | undefined;
}

/** A decision that is remembered: it holds for whatever the tool is asked to do under the same key. */
export interface PermissionRule extends RuleOffer {
  ruleId: string;
  decision: 'allow' | 'deny';
  tool: string;
  by: string;
  at: string;
}

/** What became of a prompt that carried a key. `end` is absent while its Turn runs. */
interface KeyedPrompt {
  turnId: string;
  contentHash: string;
  end?: { stopReason: StopReason; seq: number };
}

interface OpenTurn {
  turnId: string;
  promptKey: string | undefined;
  overrides: NonNullable<EventData['turn_started']['overrides']>;
  /** Those of the Session when it started. */
  additionalDirectories: string[];
  /** It was cut and continued once already. */
  continued: boolean;
  /** Model calls so far. */
  iterations: number;
  /** What answers, instead of a model. */
  reply: string | undefined;
  /** What a summary must keep, where the Turn makes one and nothing else. */
  compact: string | undefined;
  /** The newest compaction since the model last answered. */
  compaction: { compactionId: string; status: 'in_progress' | 'completed' | 'failed' } | null;
}

export interface SessionState {
  sessionId: string;
  workspace: string;
  /** Directories in which the tools of the next Turn work besides the Workspace. */
  additionalDirectories: string[];
  owner: string;
  mode: Mode;
  permissionCeiling: PermissionMode;
  permissionMode: PermissionMode;
  /** Undefined: the runtime's default model. */
  model: string | undefined;
  effort: ReasoningEffort | undefined;
  title: string | null;
  /** The title that the first prompt with a text makes. */
  suggestedTitle: string | null;
  plan: PlanEntry[];
  /** Tokens that the newest call took, in and out; null where that is not known. */
  contextTokens: number | null;
  /** What people were shown last of how full the context is. */
  usage: ContextUsage | null;
  turn: OpenTurn | null;
  openCalls: Map<string, OpenCall>;
  permissions: Map<string, PendingPermission>;
  /** By id; null: revoked. */
  rules: Map<string, PermissionRule | null>;
  /** Every keyed prompt there ever was: a key never runs twice. */
  prompts: Map<string, KeyedPrompt>;
}

/** The state after `session_created`, which every Log begins with. */
export function initialState(event: Event): SessionState {
  if (event.type !== 'session_created') {
    throw new CoreError('log_corrupt', 'the Log does not begin with session_created', { seq: event.seq });
  }
  const { workspace, additionalDirectories = [], mode, permissionCeiling, owner } = event.data;
  return {
    sessionId: event.sessionId,
    workspace,
    additionalDirectories,
    owner,
    mode,
    permissionCeiling,
    permissionMode: permissionCeiling,
    model: undefined,
    effort: undefined,
    title: null,
    suggestedTitle: null,
    plan: [],
    contextTokens: null,
    usage: null,
    turn: null,
    openCalls: new Map(),
    permissions: new Map(),
    rules: new Map(),
    prompts: new Map(),
  };
}

/** Advances the state, in place: the Session owns it and nobody else writes it. */
export function applyToState(state: SessionState, event: Event): void {
  switch (event.type) {
    case 'session_configured':
      state.mode = event.data.mode ?? state.mode;
      state.model = event.data.model ?? state.model;
      state.effort = event.data.reasoningEffort ?? state.effort;
      state.permissionMode = event.data.permissionMode ?? state.permissionMode;
      state.additionalDirectories = event.data.additionalDirectories ?? state.additionalDirectories;
      return;
    case 'session_titled':
      state.title = event.data.title;
      return;
    case 'turn_started':
      state.turn = startedTurn(state, event);
      return;
    case 'turn_continued':
      if (state.turn) state.turn.continued = true;
      return;
    case 'provider_usage':
      rememberUsage(state, event);
      return;
    case 'compaction_started':
    case 'history_compacted':
    case 'compaction_failed':
      rememberCompaction(state, event);
      return;
    case 'user_message':
      rememberPrompt(state, event);
      return;
    case 'plan':
      state.plan = event.data.entries;
      return;
    case 'tool_call': {
      const { callId, name, title, kind, args } = event.data;
      state.openCalls.set(callId, { callId, name, title, kind, args });
      return;
    }
    case 'tool_result':
      state.openCalls.delete(event.data.callId);
      return;
    case 'permission_requested':
      rememberPermission(state, event);
      return;
    case 'permission_decision':
      if (event.data.permissionId) state.permissions.delete(event.data.permissionId);
      return;
    case 'permission_rule':
      state.rules.set(event.data.ruleId, { ...event.data, at: event.ts });
      return;
    case 'permission_rule_revoked':
      state.rules.set(event.data.ruleId, null);
      return;
    case 'turn_finished':
      finishTurn(state, event);
      return;
    case 'session_created':
    case 'assistant_message':
    case 'reasoning':
    case 'skill_activation':
      return;
    default:
      unreachable(event);
  }
}

function startedTurn({ additionalDirectories }: SessionState, { data }: Event<'turn_started'>): OpenTurn {
  const { turnId, promptKey, overrides = {}, reply, compact } = data;
  const so = { continued: false, iterations: 0, compaction: null };
  return { turnId, promptKey, overrides, additionalDirectories, reply, compact, ...so };
}

function rememberUsage(state: SessionState, event: Event<'provider_usage'>): void {
  const { iteration, usage } = event.data;
  state.contextTokens = usage && usage.input + usage.output;
  state.usage = contextUsage(event) ?? state.usage;
  if (!state.turn) return;
  state.turn.iterations = iteration + 1;
  state.turn.compaction = null;
}

const COMPACTION_STATUS = {
  compaction_started: 'in_progress',
  history_compacted: 'completed',
  compaction_failed: 'failed',
} as const;

function rememberCompaction(state: SessionState, event: Event<keyof typeof COMPACTION_STATUS>): void {
  const { type, data } = event;
  if (type === 'history_compacted') {
    state.contextTokens = null;
    state.usage = contextUsage(event) ?? state.usage;
  }
  if (state.turn) state.turn.compaction = { compactionId: data.compactionId, status: COMPACTION_STATUS[type] };
}

function rememberPrompt(state: SessionState, { data }: Event<'user_message'>): void {
  const { turn } = state;
  if (turn?.reply === undefined && turn?.compact === undefined) state.suggestedTitle ??= titleOf(askedOf(data));
  if (!data.promptKey) return;
  state.prompts.set(data.promptKey, { turnId: data.turnId, contentHash: contentHash(data.content) });
}

function rememberPermission(state: SessionState, { data }: Event<'permission_requested'>): void {
  const call = state.openCalls.get(data.callId);
  if (!call) return;
  const { permissionId, argsHash, rule } = data;
  state.permissions.set(permissionId, { permissionId, call, argsHash, expiresAt: Date.parse(data.expiresAt), rule });
}

function finishTurn(state: SessionState, { data, seq }: Event<'turn_finished'>): void {
  const key = state.turn?.promptKey;
  const prompt = key ? state.prompts.get(key) : undefined;
  if (prompt) prompt.end = { stopReason: data.stopReason, seq };
  state.turn = null;
  state.openCalls.clear();
  state.permissions.clear();
}

/** Tells two prompts apart that claim the same key. */
export function contentHash(content: readonly ContentBlock[]): string {
  return hash('sha256', JSON.stringify(content), 'hex').slice(0, 32);
}
