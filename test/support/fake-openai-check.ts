/**
 * Refuses requests that the real servers refuse, so that a test fails when the provider sends nonsense: unknown
 * parameters, calls and results that do not belong together, reasoning without what it led to.
 */
import { z } from 'zod';

const tool = { name: z.string().regex(/^[\w-]{1,64}$/), description: z.string(), parameters: z.looseObject({}) };
const dataUrl = z.string().regex(/^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/]+={0,2}$/);
const parts = z
  .array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('input_text'), text: z.string() }),
      z.strictObject({ type: z.literal('input_image'), image_url: dataUrl, detail: z.literal('auto') }),
    ]),
  )
  .min(1);

const inputItem = z.discriminatedUnion('type', [
  z.discriminatedUnion('role', [
    z.strictObject({ type: z.literal('message'), role: z.enum(['user', 'developer']), content: parts }),
    z.strictObject({
      type: z.literal('message'),
      role: z.literal('assistant'),
      content: z.array(z.strictObject({ type: z.literal('output_text'), text: z.string() })).min(1),
    }),
  ]),
  z.looseObject({ type: z.literal('reasoning'), id: z.string(), summary: z.array(z.looseObject({})) }),
  z.strictObject({ type: z.literal('function_call'), call_id: z.string(), name: z.string(), arguments: z.string() }),
  z.strictObject({ type: z.literal('function_call_output'), call_id: z.string(), output: z.string() }),
]);

const responsesBody = z.strictObject({
  model: z.string(),
  stream: z.literal(true),
  store: z.literal(false),
  instructions: z.string(),
  input: z.array(inputItem),
  tools: z
    .array(z.strictObject({ type: z.literal('function'), ...tool, strict: z.literal(false) }))
    .min(1)
    .optional(),
  tool_choice: z.literal('auto').optional(),
  parallel_tool_calls: z.literal(true).optional(),
  include: z.tuple([z.literal('reasoning.encrypted_content')]).optional(),
  reasoning: z.strictObject({ effort: z.string().optional(), summary: z.literal('auto').optional() }).optional(),
  prompt_cache_key: z.string().min(1).max(64).optional(),
});

const chatCall = z.strictObject({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});
const chatPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: dataUrl }) }),
]);
const chatMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string().min(1) }),
  z.strictObject({ role: z.literal('user'), content: z.union([z.string(), z.array(chatPart).min(1)]) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string().nullable(),
    tool_calls: z.array(chatCall).min(1).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: z.string(), content: z.string() }),
]);
const chatBody = z.strictObject({
  model: z.string(),
  stream: z.literal(true),
  stream_options: z.strictObject({ include_usage: z.literal(true) }).optional(),
  messages: z.array(chatMessage).min(1),
  reasoning_effort: z.string().optional(),
  tools: z
    .array(z.strictObject({ type: z.literal('function'), function: z.strictObject(tool) }))
    .min(1)
    .optional(),
});

/** What is wrong with a request to `/responses`, or null. */
export function responsesFault(body: unknown): string | null {
  const parsed = responsesBody.safeParse(body);
  if (!parsed.success) return z.prettifyError(parsed.error);
  if (!parsed.data.tools && parsed.data.tool_choice) return 'tool_choice without tools';
  const calls = new Set<string>();
  let afterReasoning = false;
  for (const item of parsed.data.input) {
    const follows = item.type === 'function_call' || (item.type === 'message' && item.role === 'assistant');
    if (afterReasoning && item.type !== 'reasoning' && !follows) return 'reasoning without its required following item';
    afterReasoning = item.type === 'reasoning';
    if (item.type === 'function_call') calls.add(item.call_id);
    if (item.type === 'function_call_output' && !calls.delete(item.call_id)) return `no call for ${item.call_id}`;
  }
  if (afterReasoning) return 'reasoning without its required following item';
  return calls.size > 0 ? `no output for ${[...calls].join()}` : null;
}

/** What is wrong with a request to `/chat/completions`, or null. */
export function chatFault(body: unknown): string | null {
  const parsed = chatBody.safeParse(body);
  if (!parsed.success) return z.prettifyError(parsed.error);
  let waiting = new Set<string>();
  for (const [index, message] of parsed.data.messages.entries()) {
    const before = parsed.data.messages[index - 1];
    if (message.role === 'tool') {
      if (!waiting.delete(message.tool_call_id)) return `no call for ${message.tool_call_id}`;
      continue;
    }
    if (waiting.size > 0) return `no result for ${[...waiting].join()}`;
    if (message.role === 'system' && index > 0) return 'a system message must come first';
    if (message.role === 'user' && before?.role === 'user') return 'roles must alternate';
    if (message.role !== 'assistant') continue;
    if (before?.role === 'assistant') return 'roles must alternate';
    if (message.content === null && !message.tool_calls) return 'an assistant message without content';
    waiting = new Set(message.tool_calls?.map((made) => made.id));
  }
  return waiting.size > 0 ? `no result for ${[...waiting].join()}` : null;
}
