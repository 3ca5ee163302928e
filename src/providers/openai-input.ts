/**
 * Says the conversation in the words of the Responses API. A pure mapping of what the core's fold hands over: it
 * invents nothing, and it leaves out only reasoning that another model or dialect made.
 */
import { hash } from 'node:crypto';
import type { OpenAI } from 'openai';
import type { LoadedBlobs } from '../core/blobs.ts';
import type { ContentBlock, Json } from '../core/event.ts';
import type { HistoryItem, ProviderRequest } from '../core/provider.ts';

export type ResponsesBody = OpenAI.Responses.ResponseCreateParamsStreaming;
type InputItem = OpenAI.Responses.ResponseInputItem;
type InputPart = OpenAI.Responses.ResponseInputContent;

export const DIALECT = 'openai';

/** @param without the optional parameters that the server refuses. */
export function responsesBody(request: ProviderRequest, without: ReadonlySet<string>): ResponsesBody {
  const body: ResponsesBody = {
    model: request.model,
    stream: true,
    store: false,
    instructions: request.instructions,
    input: inputOf(request),
  };
  // Some servers refuse what is said of tools where there are none.
  if (request.tools.length > 0) {
    body.tool_choice = 'auto';
    body.parallel_tool_calls = true;
    body.tools = request.tools.map(toolOf);
  }
  // Nothing is stored at the server, so a thought comes back to us encrypted and goes with the next request.
  if (!without.has('include')) body.include = ['reasoning.encrypted_content'];
  const reasoning: NonNullable<ResponsesBody['reasoning']> = {};
  if (request.effort !== 'default') reasoning.effort = request.effort;
  if (!without.has('reasoning.summary')) reasoning.summary = 'auto';
  if (Object.keys(reasoning).length > 0) body.reasoning = reasoning;
  if (request.cacheKey && !without.has('prompt_cache_key')) body.prompt_cache_key = cacheKeyOf(request.cacheKey);
  return body;
}

/** A block of a prompt as one piece of text; a link becomes one line, whatever its name holds. */
export function blockText(block: ContentBlock, blobs: LoadedBlobs): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return attached(block.name, block.uri);
    case 'image':
      return attached(block.uri, block.mimeType, `${block.size} bytes, not shown`);
    case 'resource': {
      const bytes = block.encoding === 'text' ? blobs.get(block.hash) : undefined;
      if (!bytes) return attached(block.uri, block.mimeType, `${block.size} bytes, not shown`);
      return `${attached(block.uri, block.mimeType)}\n${new TextDecoder().decode(bytes)}`;
    }
  }
}

function attached(...facts: (string | undefined)[]): string {
  const lines = facts.flatMap((fact) => fact?.replace(/[\s\p{Cc}]+/gu, ' ').trim() ?? []);
  return `[Attached: ${lines.join(', ')}]`;
}

/** An image as a data URL; undefined for every other block, and for an image whose bytes are not at hand. */
export function imageUrl(block: ContentBlock, blobs: LoadedBlobs): string | undefined {
  const bytes = block.type === 'image' ? blobs.get(block.hash) : undefined;
  if (block.type !== 'image' || !bytes) return undefined;
  return `data:${block.mimeType};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')}`;
}

/** Arguments as the model wrote them: a string is kept as it is, because that is how a malformed call is stored. */
export function argumentsText(args: Json): string {
  return typeof args === 'string' ? args : JSON.stringify(args);
}

function inputOf(request: ProviderRequest): InputItem[] {
  const context = request.developerContext.trim()
    ? [messageItem('developer', [textPart(request.developerContext)])]
    : [];
  return [...context, ...request.history.flatMap((item) => inputItems(item, request))];
}

function messageItem(role: 'user' | 'developer', content: InputPart[]): InputItem {
  return { type: 'message', role, content };
}

function textPart(text: string): InputPart {
  return { type: 'input_text', text };
}

function inputPart(block: ContentBlock, blobs: LoadedBlobs): InputPart {
  const url = imageUrl(block, blobs);
  return url === undefined
    ? textPart(blockText(block, blobs))
    : { type: 'input_image', image_url: url, detail: 'auto' };
}

function inputItems(item: HistoryItem, { model, blobs }: ProviderRequest): InputItem[] {
  switch (item.type) {
    case 'user':
      return [
        messageItem(
          'user',
          item.content.map((block) => inputPart(block, blobs)),
        ),
      ];
    case 'assistant': {
      // The API takes earlier output without the id and status that its types ask for.
      const content = [{ type: 'output_text', text: item.text }];
      return [{ type: 'message', role: 'assistant', content } as unknown as InputItem];
    }
    case 'reasoning':
      // The API's own item, exactly as it came. Nobody but the model that made it can read it.
      if (item.dialect !== DIALECT || item.model !== model || item.item === null) return [];
      return [item.item as unknown as InputItem];
    case 'tool_call':
      return [{ type: 'function_call', call_id: item.callId, name: item.name, arguments: argumentsText(item.args) }];
    case 'tool_result':
      return [{ type: 'function_call_output', call_id: item.callId, output: item.output }];
  }
}

function toolOf(tool: ProviderRequest['tools'][number]): OpenAI.Responses.FunctionTool {
  const { name, description } = tool;
  const parameters = tool.parameters as Record<string, unknown>;
  // Strict mode would refuse every schema with an optional property.
  return { type: 'function', name, description, parameters, strict: false };
}

/** OpenAI refuses a key of more than 64 characters. */
function cacheKeyOf(key: string): string {
  return /^[\x21-\x7e]{1,64}$/.test(key) ? key : hash('sha256', key, 'hex');
}
