/**
 * Compaction: a model's own summary takes the place of the conversation before it in what the model is shown, and nowhere
 * else. It happens whole or not at all, and what the Turn was asked is never summarised away.
 */
import { withBlobs } from './blobs.ts';
import { CoreError } from './errors.ts';
import { type ContentBlock, type EventData, newId, type Usage } from './event.ts';
import { historyItems } from './history.ts';
import { COMPACTION_PROMPT, compactionRequest, PROMPT_CONTRACT } from './prompt.ts';
import type { HistoryItem } from './provider.ts';
import type { TurnContext } from './turn.ts';

type Trigger = EventData['compaction_started']['trigger'];

/** The share of the window from which on the next Turn begins with a compaction: it may need the rest. */
const PRESSURE = 0.85;

/**
 * Characters that are left of each text when a summary is asked for: a conversation that is too long to be answered is too
 * long to be summarised as well.
 */
const LENGTHS = [4_000, 1_000, 250];

/** The newest call left so little room that this Turn should not begin with more of the same. */
export function isUnderPressure({ session, autoCompact, contextWindow }: TurnContext): boolean {
  const { contextTokens } = session.state;
  if (!autoCompact || contextWindow === null || contextTokens === null) return false;
  return mayTry(session) && contextTokens > PRESSURE * contextWindow;
}

/** A call that failed with this may be repeated after a compaction. Once: the second time a summary would not help either. */
export function isMendable({ session, autoCompact }: TurnContext, error: unknown): boolean {
  return autoCompact && isOverflow(error) && !session.live && mayTry(session);
}

function mayTry({ state }: TurnContext['session']): boolean {
  return state.turn?.compaction === null;
}

function isOverflow(error: unknown): boolean {
  return error instanceof CoreError && error.code === 'context_overflow';
}

/** Compacts where the Turn goes on also without: a failure is recorded and told. Returns whether it did. */
export async function tryToCompact(turn: TurnContext, trigger: Trigger): Promise<boolean> {
  const { session, turnId, signal } = turn;
  try {
    return await compact(turn, trigger);
  } catch (error) {
    signal.throwIfAborted();
    const { compaction } = session.state.turn ?? {};
    if (!(error instanceof CoreError) || compaction?.status !== 'in_progress') throw error;
    const { code: kind, message } = error;
    const data = { turnId, compactionId: compaction.compactionId, error: { kind, message }, goesOn: true as const };
    await session.record([{ sessionId: session.id, type: 'compaction_failed', data }]);
    return false;
  }
}

/**
 * @param keep what the summary must not leave out.
 * @returns false where nothing was said before.
 * @throws what the provider, the Log or the abort threw; whoever closes the Turn then records that it failed.
 */
export async function compact(turn: TurnContext, trigger: Trigger, keep = ''): Promise<boolean> {
  const { session, turnId, model, contextWindow } = turn;
  const history = await session.history(turn.signal);
  const items = historyItems(history);
  if (items.every((item) => history.asked.includes(item))) return false;
  const sessionId = session.id;
  const about = { turnId, compactionId: newId('cmp') };
  await session.record([{ sessionId, type: 'compaction_started', data: { ...about, trigger } }]);
  const made = await summarise(turn, items, keep);
  await session.record([{ sessionId, type: 'history_compacted', data: { ...about, ...made, model, contextWindow } }]);
  return true;
}

interface Made {
  summary: string;
  usage: Usage | null;
}

async function summarise(turn: TurnContext, items: readonly HistoryItem[], keep: string): Promise<Made> {
  let shown = items;
  for (const length of LENGTHS) {
    try {
      return await askForSummary(turn, shown, keep);
    } catch (error) {
      if (!isOverflow(error)) throw error;
      shown = items.flatMap((item) => shortened(item, length));
    }
  }
  return askForSummary(turn, shown, keep);
}

async function askForSummary(turn: TurnContext, items: readonly HistoryItem[], keep: string): Promise<Made> {
  const { model, effort, signal } = turn;
  const ask: HistoryItem = { type: 'user', content: [{ type: 'text', text: compactionRequest(keep) }] };
  const request = {
    model,
    effort,
    instructions: COMPACTION_PROMPT,
    developerContext: '',
    ...(await withBlobs(turn.blobs, [...items, ask])),
    tools: [],
    cacheKey: `${PROMPT_CONTRACT}:compact:${turn.session.id}`,
  };
  signal.throwIfAborted();
  const texts: string[] = [];
  for await (const event of turn.provider.stream(request, signal)) {
    signal.throwIfAborted();
    if (event.type === 'message') texts.push(event.text);
    if (event.type !== 'finished') continue;
    const summary = texts.join('\n\n').trim();
    if (event.reason === 'stop' && summary !== '') return { summary, usage: event.usage };
    throw new CoreError('invalid_response', 'the model gave no whole summary');
  }
  throw new CoreError('network', 'the model stream ended before the summary was complete');
}

/** The item with so much of each text at most. Thoughts are left out, and of images and files everything but their names. */
function shortened(item: HistoryItem, length: number): HistoryItem[] {
  switch (item.type) {
    case 'user':
      return [{ ...item, content: item.content.map((block) => shortenedBlock(block, length)) }];
    case 'assistant':
      return [{ ...item, text: shortText(item.text, length) }];
    case 'reasoning':
      return [];
    case 'tool_call': {
      const { length: size } = JSON.stringify(item.args);
      return [size <= length ? item : { ...item, args: { omitted: `${size} characters` } }];
    }
    case 'tool_result':
      return [{ ...item, output: shortText(item.output, length) }];
  }
}

function shortenedBlock(block: ContentBlock, length: number): ContentBlock {
  if (block.type === 'text') return { ...block, text: shortText(block.text, length) };
  return 'hash' in block ? { ...block, hash: '' } : block;
}

/** Its beginning and its end, which say the most. */
function shortText(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = length / 2;
  const [head, tail] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return `${head}\n[${text.length - length} characters are left out here]\n${tail}`;
}
