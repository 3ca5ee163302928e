/**
 * History: the fold of the Log into what a model is shown. Advanced by one Event at a time, rebuilt by reading the Log,
 * never written anywhere; only a running Turn needs it. Everything a provider must not see (partial text, usage,
 * decisions) is left out here.
 */
import { unreachable } from './errors.ts';
import type { ContentBlock, Event } from './event.ts';
import { askedOf } from './prompt-text.ts';
import type { HistoryItem } from './provider.ts';
import { skillText } from './skills.ts';

type PendingReasoning = Extract<HistoryItem, { type: 'reasoning' }>;

export interface History {
  items: HistoryItem[];
  /** Calls without a result yet: callId to tool name. */
  pending: Map<string, string>;
  /** Every call id ever used here: ids from a provider may repeat, ours must not. */
  callIds: Set<string>;
  /** Reasoning is only valid together with what it led to, so it waits for that. */
  reasoning: PendingReasoning[];
  /** What the model was writing when this Turn was last cut off. */
  cutOff: string;
  /** What the Turn was asked, and the skills it was asked with: a summary never takes their place. */
  asked: HistoryItem[];
  /** The Turn compacts and asks the model nothing: neither its prompt nor its answer is part of the conversation. */
  aside: boolean;
}

export function emptyHistory(): History {
  return { items: [], pending: new Map(), callIds: new Set(), reasoning: [], cutOff: '', asked: [], aside: false };
}

/** The conversation so far; a copy, because the fold goes on. Every tool call in it has its result; every reasoning item has its follower. */
export function historyItems(history: History): readonly HistoryItem[] {
  return [...history.items, ...orphanResults(history)];
}

/** What the model reads about a call whose result was never recorded. */
export function orphanOutput(callId: string, tool: string): string {
  const message = 'the tool call has no recorded result';
  return JSON.stringify({ ok: false, error: { kind: 'orphan_tool_call', message, details: { callId, tool } } });
}

function orphanResults({ pending }: History): HistoryItem[] {
  return [...pending]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([callId, tool]) => ({ type: 'tool_result', callId, output: orphanOutput(callId, tool) }));
}

function closePending(history: History): void {
  history.items.push(...orphanResults(history));
  history.pending.clear();
}

function push(history: History, item: HistoryItem): void {
  history.items.push(...history.reasoning, item);
  history.reasoning = [];
}

const NOTE_TAIL = 2_000;

function think(history: History, { data: { model, dialect, item } }: Event<'reasoning'>): void {
  if (item === null) return;
  closePending(history);
  history.reasoning.push({ type: 'reasoning', model, dialect, item });
}

/** What the model is told when its Turn goes on after the server was restarted. */
function continuationNote(cutOff: string): string {
  const lines = [
    '[Pixir: the server was restarted during this Turn. Go on from where you were.',
    'A call marked outcome_unknown may or may not have taken effect: look before you repeat it.',
  ];
  if (cutOff)
    lines.push(
      `Your last message was cut off; the user has read it up to: ${JSON.stringify(cutOff.slice(-NOTE_TAIL))}`,
    );
  return `${lines.join(' ')}]`;
}

function ask(history: History, { data }: Event<'user_message'>): void {
  history.asked.push(hear(history, askedOf(data)));
}

function takeUp(history: History, { data }: Event<'skill_activation'>): void {
  const item = hear(history, [{ type: 'text', text: skillText(data) }]);
  if (data.activatedBy === 'user') history.asked.push(item);
}

function hear(history: History, content: ContentBlock[]): HistoryItem {
  closePending(history);
  history.reasoning = [];
  const item: HistoryItem = { type: 'user', content };
  history.items.push(item);
  return item;
}

function compact(history: History, { data }: Event<'history_compacted'>): void {
  history.items = [summaryItem(data.summary), ...history.asked];
  history.pending.clear();
  history.reasoning = [];
}

/** How the model is shown what it wrote about everything before. */
function summaryItem(summary: string): HistoryItem {
  const note =
    '[Pixir: the conversation so far was replaced by this summary, which you wrote. Go on from it. Where the current ' +
    'request follows it in full, the summary tells how far you have come with that.]';
  return { type: 'user', content: [{ type: 'text', text: `${note}\n\n${summary}` }] };
}

/** Advances the fold, in place: the Session owns it and nobody else writes it. */
export function applyToHistory(history: History, event: Event): void {
  switch (event.type) {
    case 'turn_started':
      history.aside = event.data.compact !== undefined;
      return;
    case 'user_message':
      if (!history.aside) ask(history, event);
      return;
    case 'skill_activation':
      takeUp(history, event);
      return;
    case 'assistant_message':
      if (history.aside) return;
      if (event.data.partial) {
        history.cutOff = event.data.text;
        return;
      }
      closePending(history);
      push(history, { type: 'assistant', text: event.data.text });
      return;
    case 'reasoning':
      think(history, event);
      return;
    case 'tool_call': {
      const { callId, name, args } = event.data;
      push(history, { type: 'tool_call', callId, name, args });
      history.pending.set(callId, name);
      history.callIds.add(callId);
      return;
    }
    case 'tool_result':
      if (!history.pending.delete(event.data.callId)) return;
      history.items.push({ type: 'tool_result', callId: event.data.callId, output: event.data.output });
      return;
    case 'turn_continued':
      closePending(history);
      history.reasoning = [];
      history.items.push({ type: 'user', content: [{ type: 'text', text: continuationNote(history.cutOff) }] });
      return;
    case 'turn_finished':
      closePending(history);
      history.reasoning = [];
      history.cutOff = '';
      history.asked = [];
      history.aside = false;
      return;
    case 'history_compacted':
      compact(history, event);
      return;
    case 'session_created':
    case 'session_configured':
    case 'session_titled':
    case 'provider_usage':
    case 'permission_requested':
    case 'permission_decision':
    case 'permission_rule':
    case 'permission_rule_revoked':
    case 'plan':
    case 'compaction_started':
    case 'compaction_failed':
      return;
    default:
      unreachable(event);
  }
}
