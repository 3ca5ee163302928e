/**
 * Says the conversation as Chat Completions messages, in the form that the most servers and chat templates accept:
 * one system message at the start, no two neighbours of the same role, every call followed by its results.
 */
import type { OpenAI } from 'openai';
import type { LoadedBlobs } from '../core/blobs.ts';
import type { ContentBlock } from '../core/event.ts';
import type { HistoryItem, ProviderRequest } from '../core/provider.ts';
import { argumentsText, blockText, imageUrl } from './openai-input.ts';

type ChatBody = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;
type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type Part = OpenAI.Chat.Completions.ChatCompletionContentPart;
type UserContent = string | Part[];
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
      append(messages, 'user', userContent(item.content, request.blobs));
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

/** One text, as every server takes it; in parts only where there is an image between. */
function userContent(blocks: readonly ContentBlock[], blobs: LoadedBlobs): UserContent {
  const parts = blocks.map((block): Part => {
    const url = imageUrl(block, blobs);
    return url === undefined ? textPart(blockText(block, blobs)) : { type: 'image_url', image_url: { url } };
  });
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === parts.length ? texts.join('\n') : parts;
}

function append(messages: Message[], ...[role, content]: ['user', UserContent] | ['assistant', string]): void {
  const last = messages.at(-1);
  if (last?.role === 'user' && role === 'user') last.content = joined(last.content, content);
  else if (last?.role === 'assistant' && role === 'assistant' && typeof last.content === 'string' && !last.tool_calls)
    last.content = `${last.content}\n\n${content}`;
  else messages.push({ role, content } as Message);
}

function joined(a: UserContent, b: UserContent): UserContent {
  if (typeof a === 'string' && typeof b === 'string') return `${a}\n\n${b}`;
  return [a, b].flatMap((content) => (typeof content === 'string' ? textPart(content) : content));
}

function textPart(text: string): Part {
  return { type: 'text', text };
}
