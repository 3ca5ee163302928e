/**
 * Reads the event stream of the Responses API. It hands items over one after the other, even from a server that mixes
 * them, and never lets the completed text of an item differ from what was streamed of it.
 */
import * as z from 'zod';
import type { Json, Usage } from '../core/event.ts';
import type { FinishReason, ProviderEvent } from '../core/provider.ts';
import type { AnswerReader } from './openai-call.ts';
import { invalidResponse, serverError } from './openai-errors.ts';
import { DIALECT } from './openai-input.ts';
import {
  completeMessage,
  type Item,
  type ItemQueue,
  itemQueue,
  liveText,
  parseArguments,
  requireName,
  tokenCount,
} from './openai-items.ts';

const place = z.number().int().default(0);
const typeSchema = z.object({ type: z.string() });
const deltaSchema = z.object({ output_index: place, content_index: place, summary_index: place, delta: z.string() });
const addedSchema = z.object({ output_index: place });
const doneSchema = z.object({ output_index: place, item: z.json() });

const parts = z
  .array(z.object({ type: z.string(), text: z.string().nullish(), refusal: z.string().nullish() }))
  .nullish()
  .transform((value) => value ?? []);
const itemSchema = z.object({
  type: z.string(),
  status: z.string().nullish(),
  content: parts,
  summary: parts,
  call_id: z.string().nullish(),
  name: z.string().nullish(),
  arguments: z.string().nullish(),
});
type OutputItem = z.infer<typeof itemSchema>;

const usageSchema = z.object({
  input_tokens: tokenCount,
  input_tokens_details: z.object({ cached_tokens: tokenCount }).nullish(),
  output_tokens: tokenCount,
  output_tokens_details: z.object({ reasoning_tokens: tokenCount }).nullish(),
});
const terminalSchema = z.object({
  response: z.object({
    usage: usageSchema.nullish(),
    incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
    error: z.unknown().optional(),
  }),
});
type Terminal = z.infer<typeof terminalSchema>['response'];

interface State {
  items: ItemQueue;
  refused: boolean;
}

export function responsesReader(apiKey: string | null): AnswerReader {
  const state: State = { items: itemQueue(), refused: false };
  return {
    // Only a terminal event completes an answer.
    end: () => null,
    take(chunk) {
      switch (typeSchema.parse(chunk).type) {
        case 'response.output_item.added':
          state.items.begin(addedSchema.parse(chunk).output_index);
          return [];
        case 'response.output_text.delta':
          return addText(state, chunk, 'message');
        case 'response.refusal.delta':
          state.refused = true;
          return addText(state, chunk, 'message');
        case 'response.reasoning_summary_text.delta':
          return addText(state, chunk, 'thought', 'summary_index');
        case 'response.reasoning_text.delta':
          return addText(state, chunk, 'thought', 'content_index');
        case 'response.output_item.done':
          return completeItem(state, chunk);
        case 'response.completed':
          return finish(state, terminalSchema.parse(chunk).response, 'stop');
        case 'response.incomplete':
          return stopShort(state, terminalSchema.parse(chunk).response);
        case 'response.failed':
          throw serverError(terminalSchema.parse(chunk).response.error, { status: null, apiKey });
        case 'error':
          throw serverError(chunk, { status: null, apiKey });
        default:
          return [];
      }
    },
  };
}

function addText(
  { items }: State,
  chunk: unknown,
  kind: 'message' | 'thought',
  paragraph?: 'content_index' | 'summary_index',
): ProviderEvent[] {
  const data = deltaSchema.parse(chunk);
  const item = items.at(data.output_index);
  if (item.closed) return [];
  item.text ??= liveText(kind);
  item.said.push(...item.text.add(data.delta, paragraph && `${paragraph} ${data[paragraph]}`));
  return items.release();
}

function completeItem(state: State, chunk: unknown): ProviderEvent[] {
  const { output_index, item: raw } = doneSchema.parse(chunk);
  const output = itemSchema.parse(raw);
  const item = state.items.at(output_index);
  if (item.closed) return [];
  item.closed = true;
  if (output.type === 'message') {
    state.refused ||= output.content.some((part) => part.type === 'refusal');
    const whole = output.content.map((part) => part.text ?? part.refusal ?? '').join('');
    item.said.push(...completeMessage(item.text ?? liveText('message'), whole));
  } else if (output.type === 'reasoning') {
    const summary = item.text?.value || summaryOf(output);
    item.said.push({ type: 'reasoning', item: raw, dialect: DIALECT, summary });
  } else if (output.type === 'function_call' && output.status !== 'incomplete') {
    // A call that the output limit cut has no complete arguments: it must never run.
    item.said.push(toolCall(output));
  }
  return state.items.release();
}

function stopShort(state: State, response: Terminal): ProviderEvent[] {
  return finish(state, response, response.incomplete_details?.reason === 'content_filter' ? 'refusal' : 'max_tokens');
}

function finish(state: State, response: Terminal, reason: FinishReason): ProviderEvent[] {
  for (const item of state.items.open()) closeAsShown(item);
  const events = state.items.release();
  return [...events, { type: 'finished', reason: state.refused ? 'refusal' : reason, usage: usageOf(response) }];
}

/** An item that the server never completed is what was streamed of it. */
function closeAsShown(item: Item): void {
  item.closed = true;
  if (item.text?.kind === 'message') item.said.push(...completeMessage(item.text, item.text.value));
  if (item.text?.kind === 'thought') {
    item.said.push({ type: 'reasoning', item: null, dialect: DIALECT, summary: item.text.value });
  }
}

function summaryOf(output: OutputItem): string {
  const pieces = output.summary.length > 0 ? output.summary : output.content;
  return pieces.map((part) => part.text ?? '').join('\n\n');
}

function toolCall(output: OutputItem): ProviderEvent {
  const callId = output.call_id ?? '';
  if (callId === '' || callId.length > 160) throw invalidResponse('a tool call without a usable id');
  const args: Json = parseArguments(output.arguments ?? '');
  return { type: 'tool_call', callId, name: requireName(output.name), args };
}

function usageOf({ usage }: Terminal): Usage | null {
  if (!usage) return null;
  return {
    input: usage.input_tokens,
    cached: usage.input_tokens_details?.cached_tokens ?? 0,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details?.reasoning_tokens ?? 0,
  };
}
