/**
 * The transcript: what a person sees of a Session, as the fold of its updates. It follows the contract of cursors and
 * nothing else: append every chunk; where `replace` is set, begin that message anew.
 */
import type {
  ContentBlock,
  PlanEntry,
  SessionConfigOption,
  SessionUpdate,
  ToolCall,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import type { UpdateMeta } from '../acp/wire.ts';

export type Item =
  /**
   * A prompt of ours has its key for an id, other people's have the server's. `pending`: the server has not been seen to
   * work on it.
   */
  | { type: 'user'; id: string; content: ContentBlock[]; promptKey?: string; pending?: true }
  | { type: 'message' | 'thought'; id: string; text: string }
  | { type: 'tool'; id: string; call: Partial<ToolCall> };

/** Plain data: it can be stored as JSON and drawn by any UI. */
export interface Transcript {
  /** In the order in which a person reads them. */
  items: Item[];
  plan?: PlanEntry[];
  mode?: string;
  title?: string;
  options?: SessionConfigOption[];
  /** Tokens in the model's context, and its size. */
  usage?: { used: number; size: number };
}

export function emptyTranscript(): Transcript {
  return { items: [] };
}

/** Advances the transcript, in place. An update of a kind we do not know changes nothing. */
export function applyUpdate(transcript: Transcript, update: SessionUpdate, meta: UpdateMeta = {}): void {
  switch (update.sessionUpdate) {
    case 'user_message_chunk':
      userChunk(transcript, update.messageId ?? '', update.content, meta);
      return;
    case 'agent_message_chunk':
      textChunk(transcript, 'message', update.messageId ?? '', update.content, meta.replace);
      return;
    case 'agent_thought_chunk':
      textChunk(transcript, 'thought', update.messageId ?? '', update.content, meta.replace);
      return;
    case 'tool_call':
    case 'tool_call_update':
      toolCall(transcript, update);
      return;
    case 'plan':
      transcript.plan = update.entries;
      return;
    case 'current_mode_update':
      transcript.mode = update.currentModeId;
      return;
    case 'config_option_update':
      transcript.options = update.configOptions;
      return;
    case 'session_info_update':
      if (typeof update.title === 'string') transcript.title = update.title;
      return;
    case 'usage_update':
      transcript.usage = { used: update.used, size: update.size };
      return;
    case 'available_commands_update':
    case 'notice':
    case 'compaction_update':
    case 'compaction_summary_chunk':
      return;
  }
}

/** A prompt of ours: the server sends it to everybody else, and to us only after a reconnect. */
export function addOwnPrompt({ items }: Transcript, promptKey: string, content: ContentBlock[]): void {
  if (!items.some((item) => item.type === 'user' && item.promptKey === promptKey))
    items.push({ type: 'user', id: promptKey, promptKey, content, pending: true });
}

/** It has its place now: the server works on it. */
export function confirmPrompt({ items }: Transcript, promptKey: string): void {
  const own = items.find(({ id }) => id === promptKey);
  if (own?.type === 'user') delete own.pending;
}

/** It never happened; one that the server has worked on stays. */
export function removePrompt(transcript: Transcript, promptKey: string): void {
  transcript.items = transcript.items.filter(
    (item) => !(item.type === 'user' && item.pending && item.id === promptKey),
  );
}

/** Without prompts that were waiting when it was stored and do not wait any more; those that ran come again. */
export function withoutGhosts(transcript: Transcript, waiting: string | undefined): Transcript {
  const items = transcript.items.filter((item) => !(item.type === 'user' && item.pending && item.id !== waiting));
  return { ...transcript, items };
}

/** Puts older items in front. What a newer page said of them already is the newer truth. */
export function prepend(transcript: Transcript, older: Transcript): void {
  const known = new Map(transcript.items.map((item) => [item.id, item]));
  for (const item of older.items) {
    const newer = known.get(item.id);
    if (item.type === 'tool' && newer?.type === 'tool') item.call = { ...item.call, ...newer.call };
  }
  const names = new Set(older.items.map(nameOf));
  Object.assign(transcript, { ...older, ...transcript });
  transcript.items = [...older.items, ...transcript.items.filter((item) => !names.has(nameOf(item)))];
}

/** A prompt is the same one under its key and under the server's id. */
function nameOf(item: Item): string {
  return item.type === 'user' ? (item.promptKey ?? item.id) : item.id;
}

function userChunk(transcript: Transcript, id: string, block: ContentBlock, { replace, promptKey }: UpdateMeta): void {
  if (promptKey !== undefined && transcript.items.some((item) => item.id === promptKey)) {
    // Ours, come back after a reconnect: we have it. One that waited has its place only now.
    const waits = (item: Item) => item.id === promptKey && item.type === 'user' && item.pending;
    transcript.items = [...transcript.items.filter((item) => !waits(item)), ...transcript.items.filter(waits)];
    confirmPrompt(transcript, promptKey);
    return;
  }
  const key = promptKey === undefined ? {} : { promptKey };
  const item = place(transcript, id, () => ({ type: 'user', id, content: [], ...key }));
  if (item.type !== 'user') return;
  if (replace) item.content = [];
  item.content.push(block);
}

function textChunk(
  transcript: Transcript,
  type: 'message' | 'thought',
  id: string,
  content: ContentBlock,
  replace = false,
): void {
  const item = place(transcript, id, () => ({ type, id, text: '' }));
  if (item.type !== type || content.type !== 'text') return;
  item.text = replace ? content.text : item.text + content.text;
  if (item.text === '') transcript.items = transcript.items.filter((other) => other !== item);
}

function toolCall(transcript: Transcript, update: ToolCall | ToolCallUpdate): void {
  const { toolCallId: id } = update;
  const { sessionUpdate: _, ...said } = update as typeof update & { sessionUpdate: string };
  const item = place(transcript, id, () => ({ type: 'tool', id, call: {} }));
  if (item.type === 'tool') item.call = { ...item.call, ...(said as Partial<ToolCall>) };
}

/** The item of this id, made where there is none: before a prompt that waits, which always stands last. */
function place({ items }: Transcript, id: string, make: () => Item): Item {
  const known = items.findLast((item) => item.id === id);
  if (known) return known;
  const made = make();
  const last = items.at(-1);
  if (last?.type === 'user' && last.pending) items.splice(-1, 0, made);
  else items.push(made);
  return made;
}
