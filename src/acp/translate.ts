/**
 * Translate: from an Event to what an ACP client sees of it. Pure and presentation only: it reads nothing but its
 * arguments and never decides what is true. Source: seed 000; ACP v1, session/update.
 */
import type {
  ContentBlock,
  PermissionOption,
  RequestPermissionRequest,
  SessionConfigOption,
  SessionUpdate,
  StopReason,
  ToolCallContent,
} from '@agentclientprotocol/sdk';
import type { Decision } from '../core/approvals.ts';
import type { LoadedBlobs } from '../core/blobs.ts';
import { contextUsage, summaryTokens } from '../core/context-usage.ts';
import { unreachable } from '../core/errors.ts';
import type { Event, Failure, Json, RuleOffer } from '../core/event.ts';
import type { LiveItem } from '../core/live-item.ts';
import { ruleText } from '../core/rule.ts';
import type { PendingPermission } from '../core/session-state.ts';
import type { Progress } from '../core/tool.ts';
import { visible, visibleJson } from '../core/visible.ts';
import { wireBlock } from './content.ts';

/** What a reader has already, or does not want, of the Event at hand. */
export interface View {
  /** UTF-16 code units of this item's text that the reader has seen while it streamed. */
  offset: number;
  /** Thoughts are shown live and left out of session/load. */
  thoughts: boolean;
  /** The client shows compactions. */
  compaction: boolean;
  /** What the Event refers to. */
  blobs: LoadedBlobs;
  /** The options as they are now: an update must carry the complete list. */
  configOptions(): SessionConfigOption[];
}

/** The updates of one Event, in order; [] when a client sees nothing of it. */
export function updatesOf(event: Event, view: View): SessionUpdate[] {
  switch (event.type) {
    case 'user_message': {
      const { messageId, content } = event.data;
      return content.map((block) => ({
        sessionUpdate: 'user_message_chunk',
        messageId,
        content: wireBlock(block, view.blobs),
      }));
    }
    case 'assistant_message':
      return chunkOf('message', event.data.messageId, event.data.text.slice(view.offset));
    case 'reasoning': {
      if (!view.thoughts) return [];
      return chunkOf('thought', event.data.messageId, event.data.summary.slice(view.offset));
    }
    case 'turn_finished':
      // A failed Turn is content: the person must read why, and JSON-RPC errors are for faults of the protocol.
      return event.data.error ? chunkOf('message', `end_${event.id}`, event.data.error.message) : [];
    case 'tool_call':
      return [toolCall(event)];
    case 'tool_result':
      return [toolResult(event)];
    case 'plan':
      return [{ sessionUpdate: 'plan', entries: event.data.entries }];
    case 'provider_usage':
      return usage(event);
    case 'session_titled':
      return [{ sessionUpdate: 'session_info_update', title: event.data.title, updatedAt: event.ts }];
    case 'session_configured':
      return configured(event, view);
    case 'compaction_started':
    case 'history_compacted':
    case 'compaction_failed':
      // The text last: a client that is cut before it, and gets all of this again, has not read it twice.
      return [
        ...compactionUpdate(event, view),
        ...(event.type === 'history_compacted' ? usage(event) : []),
        ...compactionText(event),
      ];
    case 'session_created':
    case 'turn_started':
    case 'turn_continued':
    case 'permission_requested':
    case 'permission_decision':
    case 'permission_rule':
    case 'permission_rule_revoked':
    case 'skill_activation':
      return [];
    default:
      return unreachable(event);
  }
}

/** Text of a message or a thought, whole or in part; nothing when there is no text. */
export function chunkOf(kind: LiveItem['kind'], messageId: string, text: string): SessionUpdate[] {
  if (text === '') return [];
  const sessionUpdate = kind === 'message' ? 'agent_message_chunk' : 'agent_thought_chunk';
  return [{ sessionUpdate, messageId, content: textBlock(text) }];
}

/** What is shown of a tool that is still running: it replaces what the client showed before. */
export function progressOf(toolCallId: string, output: Progress): SessionUpdate {
  const content: ToolCallContent[] =
    typeof output === 'string' ? textContent(output) : [{ type: 'terminal', terminalId: output.terminalId }];
  return { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress', content };
}

function toolCall({ data, ts: at }: Event<'tool_call'>): SessionUpdate {
  const { callId: toolCallId, name, kind, args: rawInput, locations } = data;
  const where = locations ? { locations } : {};
  // A call of a tool that does not exist has whatever title the model gave it.
  const title = visible(data.title);
  const _meta = { pixir: { at } };
  return {
    sessionUpdate: 'tool_call',
    toolCallId,
    name,
    title,
    kind,
    status: 'in_progress',
    rawInput,
    ...where,
    _meta,
  };
}

function toolResult({ data, ts: at }: Event<'tool_result'>): SessionUpdate {
  const { callId: toolCallId, ok, output, error, diffs = [], durationMs, exitCode } = data;
  const text = error ? describe(error) : output;
  const content: ToolCallContent[] = [
    ...textContent(text),
    ...diffs.map((diff) => ({ type: 'diff' as const, ...diff })),
  ];
  const status = ok ? 'completed' : 'failed';
  // The output is the content; what a program wants to know besides is not sent a second time with it.
  const rawOutput = error ? { ok, error } : { ok };
  const took = { ...(durationMs === undefined ? {} : { durationMs }), ...(exitCode === undefined ? {} : { exitCode }) };
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status,
    content,
    rawOutput,
    _meta: { pixir: { at, ...took } },
  };
}

function describe({ kind, message }: Failure): string {
  return `${kind}: ${message}`;
}

function usage(event: Event<'provider_usage' | 'history_compacted'>): SessionUpdate[] {
  const shown = contextUsage(event);
  return shown ? [{ sessionUpdate: 'usage_update', ...shown }] : [];
}

type CompactionEvent = Event<'compaction_started' | 'history_compacted' | 'compaction_failed'>;

/** Only for those who said that they show it. */
function compactionUpdate({ type, data }: CompactionEvent, { compaction }: View): SessionUpdate[] {
  if (!compaction) return [];
  const update = { sessionUpdate: 'compaction_update' as const, compactionId: data.compactionId };
  switch (type) {
    case 'compaction_started':
      return [{ ...update, status: 'in_progress' }];
    case 'history_compacted':
      return [{ ...update, status: 'completed', summary: [textBlock(data.summary)] }];
    case 'compaction_failed': {
      const { kind, message } = data.error;
      return [{ ...update, status: kind === 'cancelled' ? 'cancelled' : 'failed', error: message }];
    }
  }
}

/** What happened, in words, for everybody. The failure of a Turn that ends with it is the end's to tell. */
function compactionText({ type, data, id }: CompactionEvent): SessionUpdate[] {
  if (type === 'history_compacted') {
    const { usage } = data;
    const tokens = usage ? ` Tokens: ${usage.input} before, ${summaryTokens(usage)} in the summary.` : '';
    return chunkOf('message', `cmp_${id}`, `The conversation was compacted: I go on from a summary of it.${tokens}`);
  }
  if (type !== 'compaction_failed' || !data.goesOn) return [];
  return chunkOf('message', `cmp_${id}`, `The conversation could not be compacted: ${data.error.message}`);
}

function configured({ data }: Event<'session_configured'>, { configOptions }: View): SessionUpdate[] {
  // No option: the protocol has no word for it but the list of Sessions.
  if (data.additionalDirectories) return [];
  const options: SessionUpdate = { sessionUpdate: 'config_option_update', configOptions: configOptions() };
  return data.mode ? [{ sessionUpdate: 'current_mode_update', currentModeId: data.mode }, options] : [options];
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}

function textContent(text: string): ToolCallContent[] {
  return [{ type: 'content', content: textBlock(text) }];
}

/** A rule is offered by its whole text: nobody makes one that they have not read. */
function permissionOptions(rule: RuleOffer | undefined): PermissionOption[] {
  const allow: PermissionOption = { optionId: 'allow', name: 'Allow', kind: 'allow_once' };
  const reject: PermissionOption = { optionId: 'reject', name: 'Reject', kind: 'reject_once' };
  if (!rule) return [allow, reject];
  return [
    allow,
    { optionId: 'always', name: ruleText('allow', rule.text), kind: 'allow_always' },
    reject,
    { optionId: 'never', name: ruleText('deny', rule.text), kind: 'reject_always' },
  ];
}

/** The question that is put to every attached client: with all that would run, because a title is cut. */
export function permissionRequest(
  sessionId: string,
  { permissionId, call, rule, expiresAt }: PendingPermission,
): RequestPermissionRequest {
  const { callId: toolCallId, kind, name, args: rawInput } = call;
  const title = visible(call.title);
  return {
    sessionId,
    toolCall: { toolCallId, name, title, kind, status: 'pending', rawInput, content: shownArguments(rawInput) },
    options: permissionOptions(rule),
    _meta: { pixir: { permissionId, expiresAt: new Date(expiresAt).toISOString() } },
  };
}

function shownArguments(args: Json): ToolCallContent[] {
  const { text, warnings } = visibleJson(args);
  return [...(warnings.length > 0 ? textContent(`Careful: ${warnings.join('; ')}.`) : []), ...textContent(text)];
}

/** Reads a client's answer. Only the exact offer to allow allows; whatever cannot be read is a denial. */
export function permissionOutcome(
  result: unknown,
  { options }: Pick<RequestPermissionRequest, 'options'>,
): { decision: Decision; reason?: string; remember?: boolean } {
  const outcome = (result as { outcome?: { outcome?: unknown; optionId?: unknown } } | null)?.outcome;
  if (outcome?.outcome === 'selected') {
    const kind = options.find(({ optionId }) => optionId === outcome.optionId)?.kind;
    if (kind === 'allow_once' || kind === 'allow_always')
      return { decision: 'allow', remember: kind === 'allow_always' };
    return { decision: 'deny', reason: 'rejected by user', remember: kind === 'reject_always' };
  }
  if (outcome?.outcome === 'cancelled') return { decision: 'deny', reason: 'cancelled' };
  return { decision: 'deny', reason: 'unreadable answer' };
}

/** A cancel that was read before the answer was written wins, even over a Turn that ended by itself meanwhile. */
export function stopReason(recorded: StopReason, cancelRequested: boolean): StopReason {
  return cancelRequested ? 'cancelled' : recorded;
}
