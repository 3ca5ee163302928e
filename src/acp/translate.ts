/**
 * Translate: from an Event to what an ACP client sees of it. Pure and presentation only: it reads nothing but its
 * arguments and never decides what is true. Source: seed 000; ACP v1, session/update.
 */
import type {
  ContentBlock,
  RequestPermissionRequest,
  SessionConfigOption,
  SessionUpdate,
  StopReason,
  ToolCallContent,
} from '@agentclientprotocol/sdk';
import type { Decision } from '../core/approvals.ts';
import { unreachable } from '../core/errors.ts';
import type { Event, Failure, Json } from '../core/event.ts';
import type { LiveItem } from '../core/live-item.ts';
import type { PendingPermission } from '../core/session-state.ts';
import { visible } from '../core/visible.ts';

/** What a reader has already, or does not want, of the Event at hand. */
export interface View {
  /** UTF-16 code units of this item's text that the reader has seen while it streamed. */
  offset: number;
  /** Thoughts are shown live and left out of session/load. */
  thoughts: boolean;
  /** The options as they are now: an update must carry the complete list. */
  configOptions(): SessionConfigOption[];
}

/** The updates of one Event, in order; [] when a client sees nothing of it. */
export function updatesOf(event: Event, view: View): SessionUpdate[] {
  switch (event.type) {
    case 'user_message': {
      const { messageId, content } = event.data;
      return content.map((block) => ({ sessionUpdate: 'user_message_chunk', messageId, content: block }));
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
    case 'session_created':
    case 'turn_started':
    case 'turn_continued':
    case 'permission_requested':
    case 'permission_decision':
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

/** The output so far of a tool that is still running: it replaces what the client showed before. */
export function outputOf(toolCallId: string, output: string): SessionUpdate {
  return { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress', content: textContent(output) };
}

function toolCall({ data }: Event<'tool_call'>): SessionUpdate {
  const { callId: toolCallId, name, kind, args: rawInput, locations } = data;
  const where = locations ? { locations } : {};
  // A call of a tool that does not exist has whatever title the model gave it.
  const title = visible(data.title);
  return { sessionUpdate: 'tool_call', toolCallId, name, title, kind, status: 'in_progress', rawInput, ...where };
}

function toolResult({ data }: Event<'tool_result'>): SessionUpdate {
  const { callId: toolCallId, ok, output, error, diffs = [] } = data;
  const text = error ? describe(error) : output;
  const content: ToolCallContent[] = [
    ...textContent(text),
    ...diffs.map((diff) => ({ type: 'diff' as const, ...diff })),
  ];
  return { sessionUpdate: 'tool_call_update', toolCallId, status: ok ? 'completed' : 'failed', content };
}

function describe({ kind, message }: Failure): string {
  return `${kind}: ${message}`;
}

function usage({ data }: Event<'provider_usage'>): SessionUpdate[] {
  if (!data.usage || data.contextWindow === null) return [];
  const used = data.usage.input + data.usage.output;
  return [{ sessionUpdate: 'usage_update', used: Math.min(used, data.contextWindow), size: data.contextWindow }];
}

function configured({ data }: Event<'session_configured'>, { configOptions }: View): SessionUpdate[] {
  const options: SessionUpdate = { sessionUpdate: 'config_option_update', configOptions: configOptions() };
  return data.mode ? [{ sessionUpdate: 'current_mode_update', currentModeId: data.mode }, options] : [options];
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}

function textContent(text: string): ToolCallContent[] {
  return [{ type: 'content', content: textBlock(text) }];
}

const OPTIONS = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' as const },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' as const },
];

/** The question that is put to every attached client: with all that would run, because a title is cut. */
export function permissionRequest(
  sessionId: string,
  { permissionId, call }: PendingPermission,
): RequestPermissionRequest {
  const { callId: toolCallId, kind, name, args: rawInput } = call;
  const title = visible(call.title);
  return {
    sessionId,
    toolCall: { toolCallId, name, title, kind, status: 'pending', rawInput, content: shownArguments(rawInput) },
    options: OPTIONS,
    _meta: { pixir: { permissionId } },
  };
}

/** What a person should know of the arguments before they approve them. Tabs and line feeds are in every file. */
const SUSPICIONS: readonly [RegExp, string][] = [
  [/(?<!\\)(?:\\\\)*\\(?:[bfr]|u[\da-f]{4})/, 'it holds invisible characters, shown as escapes'],
  [/(?: |\\[nrt]|\\u[\da-f]{4}){80}/, 'it holds long padding, and more may follow'],
  [/^.{2048}/s, 'it is long; read it to its end'],
];

/** JSON that reads back as exactly these arguments, and in which every character can be seen. */
function shownArguments(args: Json): ToolCallContent[] {
  const lines = JSON.stringify(args, null, 2).split('\n');
  const shown = lines.map(visible).join('\n');
  const notes = SUSPICIONS.filter(([pattern]) => pattern.test(shown)).map(([, note]) => note);
  return [...(notes.length > 0 ? textContent(`Careful: ${notes.join('; ')}.`) : []), ...textContent(shown)];
}

/** Reads a client's answer. Only the exact offer to allow allows; whatever cannot be read is a denial. */
export function permissionOutcome(result: unknown): { decision: Decision; reason?: string } {
  const outcome = (result as { outcome?: { outcome?: unknown; optionId?: unknown } } | null)?.outcome;
  if (outcome?.outcome === 'selected' && outcome.optionId === 'allow') return { decision: 'allow' };
  if (outcome?.outcome === 'selected') return { decision: 'deny', reason: 'rejected by user' };
  if (outcome?.outcome === 'cancelled') return { decision: 'deny', reason: 'cancelled' };
  return { decision: 'deny', reason: 'unreadable answer' };
}

/** A cancel that was read before the answer was written wins, even over a Turn that ended by itself meanwhile. */
export function stopReason(recorded: StopReason, cancelRequested: boolean): StopReason {
  return cancelRequested ? 'cancelled' : recorded;
}
