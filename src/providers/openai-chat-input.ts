/**
 * Says the conversation as Chat Completions messages, in the form that the most servers and chat templates accept:
 * one system message at the start, no two neighbours of the same role, every call followed by its results.
 */
import type { OpenAI } from 'openai';
import type { HistoryItem, ProviderRequest } from '../core/provider.ts';
import { argumentsText, blockText } from './openai-input.ts';

type ChatBody = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;
type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type AssistantMessage = OpenAI.Chat.Completions.ChatCompletionAssistantMessageParam;

/** @param without the optional parameters that the server refuses. */
export function chatBody(request: ProviderRequest, without: ReadonlySet<string>): ChatBody {
  const body: ChatBody = { model: request.model, stream: true, messages: messagesOf(request) };
  if (!without.has('stream_options')) body.stream_options = { include_usage: true };
  if (request.effort !== 'default') body.reasoning_effort = request.effort;
  if (request.tools.length > 0) {
    body.tools = request.tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters: parameters as Record<string, unknown> },
    }));
  }
  return body;
}

function messagesOf(request: ProviderRequest): Message[] {
  // Many templates take one system message only, so the volatile context ends it; the stable prefix stays the same.
  const system = [request.instructions, request.developerContext].filter((text) => text.trim()).join('\n\n');
  const messages: Message[] = system ? [{ role: 'system', content: system }] : [];
  const unanswered = new Set<string>();
  let caller: AssistantMessage | undefined;

  for (const item of request.history) {
    if (item.type === 'tool_call') {
      // Calls whose results are still to come belong to one message, also when their results interleave.
      if (unanswered.size === 0 || !caller) caller = callerFor(messages);
      caller.tool_calls = [...(caller.tool_calls ?? []), callOf(item)];
      unanswered.add(item.callId);
    } else if (item.type === 'tool_result') {
      messages.push({ role: 'tool', tool_call_id: item.callId, content: item.output });
      unanswered.delete(item.callId);
    } else if (item.type === 'user') {
      append(messages, 'user', item.content.map(blockText).join('\n'));
    } else if (item.type === 'assistant') {
      append(messages, 'assistant', item.text);
    }
  }
  return messages;
}

/** The text just before a call is of the same message; without text the content is null, which servers expect. */
function callerFor(messages: Message[]): AssistantMessage {
  const last = messages.at(-1);
  if (last?.role === 'assistant' && !last.tool_calls) return last;
  const caller: AssistantMessage = { role: 'assistant', content: null };
  messages.push(caller);
  return caller;
}

function callOf(item: Extract<HistoryItem, { type: 'tool_call' }>) {
  const called = { name: item.name, arguments: argumentsText(item.args) };
  return { id: item.callId, type: 'function' as const, function: called };
}

function append(messages: Message[], role: 'user' | 'assistant', text: string): void {
  const last = messages.at(-1);
  const joins = last?.role === role && typeof last.content === 'string' && !('tool_calls' in last);
  if (joins) last.content = `${last.content}\n\n${text}`;
  else messages.push({ role, content: text });
}
