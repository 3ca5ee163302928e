/**
 * Reads a Chat Completions stream. It takes what the many compatible servers really send and assembles calls from
 * their fragments; it never runs together two calls that a server numbered alike.
 */
import * as z from 'zod';
import { newId } from '../core/event.ts';
import type { FinishReason, ProviderEvent, ProviderRequest } from '../core/provider.ts';
import type { AnswerReader } from './openai-call.ts';
import { serverError } from './openai-errors.ts';
import {
  completeMessage,
  type LiveText,
  liveText,
  parseArguments,
  parseObject,
  requireName,
  tokenCount,
} from './openai-items.ts';

const text = z.string().nullish();
const fragmentSchema = z.object({
  index: z.number().int().nullish(),
  id: text,
  function: z.object({ name: text, arguments: text }).nullish(),
});
type Fragment = z.infer<typeof fragmentSchema>;

const chunkSchema = z.object({
  object: text,
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: text,
            refusal: text,
            reasoning_content: text,
            reasoning: text,
            tool_calls: z.array(fragmentSchema).nullish(),
          })
          .nullish(),
        finish_reason: text,
      }),
    )
    .nullish(),
  usage: z
    .object({
      prompt_tokens: tokenCount,
      prompt_tokens_details: z.object({ cached_tokens: tokenCount }).nullish(),
      completion_tokens: tokenCount,
      completion_tokens_details: z.object({ reasoning_tokens: tokenCount }).nullish(),
    })
    .nullish(),
});
type Chunk = z.infer<typeof chunkSchema>;

interface PartialCall {
  index: number | null;
  id: string;
  name: string;
  arguments: string;
}

interface State {
  live: LiveText | null;
  calls: PartialCall[];
  refused: boolean;
  finishReason: string | null;
  usage: Chunk['usage'];
}

export function chatReader(request: ProviderRequest, apiKey: string | null): AnswerReader {
  const state: State = { live: null, calls: [], refused: false, finishReason: null, usage: null };
  return {
    take(raw) {
      const chunk = chunkSchema.parse(raw);
      if (chunk.object === 'error') throw serverError(raw, { status: null, apiKey });
      state.usage = chunk.usage ?? state.usage;
      const choice = chunk.choices?.[0];
      if (!choice) return [];
      state.finishReason = choice.finish_reason || state.finishReason;
      const { content, refusal, reasoning_content, reasoning, tool_calls } = choice.delta ?? {};
      state.refused ||= Boolean(refusal);
      for (const fragment of tool_calls ?? []) addFragment(state.calls, fragment);
      return [
        ...addText(state, 'thought', reasoning_content || reasoning),
        ...addText(state, 'message', content),
        ...addText(state, 'message', refusal),
      ];
    },
    // The usage comes after the finish reason, so only the end of the chunks is the end of the answer.
    end() {
      if (state.finishReason === null) return null;
      if (state.finishReason === 'error') throw serverError(undefined, { status: null, apiKey });
      return [...completeText(state), ...callsOf(state, request), finished(state)];
    },
  };
}

function addText(state: State, kind: 'message' | 'thought', piece: string | null | undefined): ProviderEvent[] {
  if (!piece) return [];
  const before = state.live?.kind === kind ? [] : completeText(state);
  state.live ??= liveText(kind);
  return [...before, ...state.live.add(piece)];
}

function completeText(state: State): ProviderEvent[] {
  const { live } = state;
  state.live = null;
  if (!live) return [];
  if (live.kind === 'message') return completeMessage(live, live.value);
  return [{ type: 'reasoning', item: null, dialect: 'chat', summary: live.value }];
}

function addFragment(calls: PartialCall[], fragment: Fragment): void {
  const { index = null, id } = fragment;
  const known =
    calls.findLast((call) => id && call.id === id) ?? calls.findLast((call) => index === null || call.index === index);
  const call = known && !beginsAnother(known, fragment) ? known : { index, id: '', name: '', arguments: '' };
  if (call !== known) calls.push(call);
  call.id ||= id ?? '';
  call.name ||= fragment.function?.name ?? '';
  call.arguments += fragment.function?.arguments ?? '';
}

/**
 * Whether a fragment opens a new call although its number, or the lack of one, points at a known call: some servers
 * number every call 0, some not at all. Only a fragment with a name can, because some give each fragment a new id.
 */
function beginsAnother(known: PartialCall, { id, function: part }: Fragment): boolean {
  if (!part?.name || !known.name) return false;
  if (id && known.id) return id !== known.id;
  return parseObject(known.arguments) !== null;
}

function callsOf({ calls, finishReason }: State, request: ProviderRequest): ProviderEvent[] {
  const taken = new Set(request.history.map((item) => (item.type === 'tool_call' ? item.callId : '')));
  // A call that the output limit cut has no complete arguments: it must never run.
  const whole = finishReason === 'length' ? calls.filter((call) => parseObject(call.arguments) !== null) : calls;
  return whole.map((call) => {
    const callId = usableId(call.id, taken);
    return { type: 'tool_call', callId, name: requireName(call.name), args: parseArguments(call.arguments) };
  });
}

/** The server's id when it is one; some leave it empty, some count from 0 in every answer. */
function usableId(id: string, taken: Set<string>): string {
  const callId = id && id.length <= 160 && !taken.has(id) ? id : newId('call');
  taken.add(callId);
  return callId;
}

function finished({ refused, finishReason, usage }: State): ProviderEvent {
  const cut: FinishReason = finishReason === 'length' ? 'max_tokens' : 'stop';
  const reason = refused || finishReason === 'content_filter' ? 'refusal' : cut;
  const counts = usage && {
    input: usage.prompt_tokens,
    cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
    output: usage.completion_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
  return { type: 'finished', reason, usage: counts ?? null };
}
