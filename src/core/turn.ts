/**
 * The Turn: from one prompt to its final answer. It asks the model, records each item as it completes, runs the calls
 * through the Executor, and asks again. It keeps nothing to itself: History is the fold of what was recorded.
 */
import type { Approvals } from './approvals.ts';
import { type Blobs, withBlobs } from './blobs.ts';
import type { ClientServices } from './client-services.ts';
import type { Clock } from './clock.ts';
import type { TurnEnding } from './closing.ts';
import { compact, isMendable, isUnderPressure, tryToCompact } from './compaction.ts';
import { CoreError } from './errors.ts';
import type { EventDraft, Json, PermissionMode, ReasoningEffort, Usage } from './event.ts';
import { execute, type RequestedCall } from './executor.ts';
import { historyItems } from './history.ts';
import { effectivePermission } from './permission.ts';
import { developerContext, PROMPT_CONTRACT, systemPrompt } from './prompt.ts';
import type { FinishReason, Provider, ProviderEvent, ProviderRequest, ToolSpec } from './provider.ts';
import type { Roots } from './roots.ts';
import type { Session } from './session.ts';
import type { Tool } from './tool.ts';

/** Everything a Turn works with; fixed when it starts. */
export interface TurnContext {
  session: Session;
  approvals: Approvals;
  turnId: string;
  /** Where its tools work; another list is for the next Turn. */
  roots: Roots;
  signal: AbortSignal;
  clock: Clock;
  provider: Provider;
  blobs: Blobs;
  tools: ReadonlyMap<string, Tool>;
  toolSpecs: readonly ToolSpec[];
  model: string;
  contextWindow: number | null;
  effort: ReasoningEffort;
  /** Narrows the Session's permission mode for this Turn; it cannot widen it. */
  permissionMode: PermissionMode | undefined;
  presenterContext: Json | undefined;
  /** What the model is told of the skills that there are. */
  skillIndex: string;
  /** Of the connection whose prompt this is; a Turn that was continued has none. */
  client: ClientServices | undefined;
  dryRun: boolean;
  maxIterations: number | null;
  /** Whether a conversation that grows too long is compacted without being asked. */
  autoCompact: boolean;
  onError(error: unknown): void;
}

/** How the loop ended, and Events that belong into the same commit as the end. */
export interface TurnResult {
  ending: TurnEnding;
  last: EventDraft[];
}

const ANSWERED: TurnEnding = { outcome: 'completed', stopReason: 'end_turn' };

/** Runs the loop to its end, from the given model call on. @throws what the provider, the Log or the abort threw; the caller closes the Turn. */
export async function runTurn(turn: TurnContext, first = 0): Promise<TurnResult> {
  const { reply, compact: keep, compaction } = turn.session.state.turn ?? {};
  if (reply !== undefined) return { ending: ANSWERED, last: [recordMessage(turn, reply)] };
  if (keep !== undefined) {
    // A crash may have come between it and the Turn's end.
    const done = compaction?.status === 'completed' || (await compact(turn, 'command', keep));
    return { ending: ANSWERED, last: done ? [] : [recordMessage(turn, 'There is nothing to compact yet.')] };
  }
  if (isUnderPressure(turn)) await tryToCompact(turn, 'pressure');
  for (let iteration = first; ; iteration++) {
    const answer = await askWithRoom(turn);
    const last = [...answer.held, recordUsage(turn, iteration, answer.usage)];
    if (answer.calls.length === 0 || answer.reason !== 'stop') {
      return { ending: { outcome: 'completed', stopReason: stopReason(answer.reason) }, last };
    }
    if (turn.maxIterations !== null && iteration + 1 >= turn.maxIterations) {
      const text = `Stopped: reached the tool-iteration cap (${turn.maxIterations}).`;
      await turn.session.record(last);
      return { ending: { outcome: 'completed', stopReason: 'max_turn_requests' }, last: [recordMessage(turn, text)] };
    }
    for (const [index, call] of answer.calls.entries()) await execute(turn, call, index === 0 ? last : []);
  }
}

interface Answer {
  calls: RequestedCall[];
  reason: FinishReason;
  usage: Usage | null;
  /** The last item, where the answer ended in the same moment: it is committed together with what follows it. */
  held: EventDraft[];
}

/** Where the conversation does not fit any more, it is compacted, once. */
async function askWithRoom(turn: TurnContext): Promise<Answer> {
  try {
    return await askModel(turn);
  } catch (error) {
    if (!isMendable(turn, error) || !(await tryToCompact(turn, 'overflow'))) throw error;
    return askModel(turn);
  }
}

/** One model call. Items are recorded as they complete; calls are handed back, to run once the response has ended. */
async function askModel(turn: TurnContext): Promise<Answer> {
  const { session, turnId, signal } = turn;
  const calls: RequestedCall[] = [];
  let held: EventDraft[] = [];
  const flush = async () => {
    const items = held;
    held = [];
    if (items.length > 0) await session.record(items);
  };
  // Also aborted when we leave early: a stream that is asked to end while it waits for the model would go on waiting.
  const leaving = new AbortController();
  const either = AbortSignal.any([signal, leaving.signal]);
  const items = historyItems(await session.history(signal));
  const request = buildRequest(turn, await withBlobs(turn.blobs, items));
  signal.throwIfAborted();
  const stream = turn.provider.stream(request, either)[Symbol.asyncIterator]();
  let finished = false;
  try {
    for (;;) {
      const next = stream.next();
      if (held.length > 0 && !(await settlesAtOnce(next))) await flush();
      const { value: event, done } = await next;
      signal.throwIfAborted();
      if (done) throw new CoreError('network', 'the model stream ended before the answer was complete');
      if (event.type === 'finished') {
        finished = true;
        return { calls, reason: event.reason, usage: event.usage, held };
      }
      await flush();
      if (event.type === 'delta') addDelta(session, turnId, event);
      else if (event.type === 'tool_call') calls.push({ callId: event.callId, name: event.name, args: event.args });
      else if (event.type === 'reasoning') held = [recordReasoning(turn, event)];
      else if (event.text !== '') held = [recordMessage(turn, event.text)];
    }
  } finally {
    // After its last event a stream has only its connection left to look after: nobody needs to wait for that.
    if (!finished) leaving.abort();
    const closing = stream.return?.();
    if (!finished) await closing;
    else closing?.catch(turn.onError);
  }
}

function addDelta(session: Session, turnId: string, { kind, text }: Extract<ProviderEvent, { type: 'delta' }>): void {
  if (session.live && session.live.kind !== kind) {
    throw new CoreError('invalid_response', 'the model began an item before it had finished another');
  }
  session.addDelta(turnId, kind, text);
}

/** Whether a promise settles within this turn of the event loop: then what waits for it need not be committed alone. */
async function settlesAtOnce(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<boolean>((resolve) => setImmediate(resolve, false))]);
}

function buildRequest(turn: TurnContext, shown: Awaited<ReturnType<typeof withBlobs>>): ProviderRequest {
  const { mode, permissionCeiling, permissionMode } = turn.session.state;
  const permission = effectivePermission('build', permissionCeiling, permissionMode, turn.permissionMode);
  return {
    model: turn.model,
    effort: turn.effort,
    instructions: systemPrompt(mode),
    developerContext: developerContext(turn.roots, mode, permission, turn.presenterContext, turn.skillIndex),
    ...shown,
    tools: turn.toolSpecs,
    cacheKey: `${PROMPT_CONTRACT}:${mode}:${turn.session.id}`,
  };
}

function recordMessage(turn: TurnContext, text: string): EventDraft {
  const messageId = turn.session.itemId(turn.turnId, 'message');
  return { sessionId: turn.session.id, type: 'assistant_message', data: { turnId: turn.turnId, messageId, text } };
}

function recordReasoning(
  turn: TurnContext,
  { item, dialect, summary }: Extract<ProviderEvent, { type: 'reasoning' }>,
): EventDraft {
  const messageId = turn.session.itemId(turn.turnId, 'thought');
  const data = { turnId: turn.turnId, messageId, model: turn.model, dialect, item, summary };
  return { sessionId: turn.session.id, type: 'reasoning', data };
}

function recordUsage(turn: TurnContext, iteration: number, usage: Usage | null): EventDraft {
  const { turnId, model, contextWindow } = turn;
  return {
    sessionId: turn.session.id,
    type: 'provider_usage',
    data: { turnId, model, iteration, usage, contextWindow },
  };
}

function stopReason(reason: FinishReason) {
  switch (reason) {
    case 'stop':
      return 'end_turn';
    case 'max_tokens':
    case 'refusal':
      return reason;
  }
}
