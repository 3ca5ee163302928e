/** The fake model as the Responses API would stream it. */
import type { Block, ModelStep } from './fake-openai-steps.ts';

type Text = Extract<ModelStep, { deltas: unknown }>;

export function* responsesBlocks(steps: readonly ModelStep[]): Generator<Block> {
  const id = 'resp_fake';
  let status = 'completed';
  let place = 0;
  const usage = steps.find((step) => step.type === 'usage')?.usage;
  yield event('response.created', { response: { id, status: 'in_progress', output: [] } });
  yield event('response.in_progress', { response: { id, status: 'in_progress', output: [] } });
  for (const step of steps) {
    switch (step.type) {
      case 'message':
      case 'refusal':
        yield* textItem(step, place++);
        break;
      case 'thought':
        yield* reasoningItem(step, place++);
        break;
      case 'call':
        yield* callItem(step, place++);
        break;
      case 'hold':
        yield step.until;
        break;
      case 'garbage':
        yield `event: response.output_text.delta\ndata: ${step.data}\n\n`;
        break;
      case 'error':
        yield event('response.failed', { response: { id, error: { code: step.code, message: step.message } } });
        return;
      case 'incomplete':
        status = 'incomplete';
        break;
      case 'usage':
        break;
      default:
        yield step.type;
    }
  }
  const incomplete = steps.find((step) => step.type === 'incomplete');
  const details = incomplete ? { reason: incomplete.reason } : null;
  yield event(`response.${status}`, {
    response: { id, status, incomplete_details: details, error: null, output: [], usage: usage && wireUsage(usage) },
  });
}

function* textItem(step: Text, place: number): Generator<Block> {
  const kind = step.type === 'refusal' ? 'refusal' : 'output_text';
  const item_id = `msg_${place}`;
  const item = { id: item_id, type: 'message', role: 'assistant', status: 'in_progress', content: [] as object[] };
  const position = { item_id, output_index: place, content_index: 0 };
  yield event('response.output_item.added', { output_index: place, item });
  yield event('response.content_part.added', { ...position, part: { type: kind, text: '' } });
  for (const delta of step.deltas) {
    if (typeof delta !== 'string') yield delta;
    else yield event(`response.${kind}.delta`, { ...position, delta, logprobs: [] });
  }
  if (step.open) return;
  const text = joined(step);
  const part = kind === 'refusal' ? { type: kind, refusal: text } : { type: kind, text, annotations: [], logprobs: [] };
  yield event(`response.${kind}.done`, { ...position, text });
  yield event('response.content_part.done', { ...position, part });
  const done = { ...item, status: 'completed', content: [part] };
  yield event('response.output_item.done', { output_index: place, item: done });
}

/** Each delta is a part of the summary of its own: that is how OpenAI sends headings. */
function* reasoningItem(step: Text, place: number): Generator<Block> {
  const item_id = `rs_${place}`;
  const item = { id: item_id, type: 'reasoning', summary: [] as object[] };
  yield event('response.output_item.added', { output_index: place, item });
  let part = 0;
  for (const delta of step.deltas) {
    if (typeof delta !== 'string') {
      yield delta;
      continue;
    }
    const position = { item_id, output_index: place, summary_index: part++ };
    yield event('response.reasoning_summary_part.added', { ...position, part: { type: 'summary_text', text: '' } });
    yield event('response.reasoning_summary_text.delta', { ...position, delta });
    yield event('response.reasoning_summary_text.done', { ...position, text: delta });
    item.summary.push({ type: 'summary_text', text: delta });
  }
  if (step.open) return;
  const done = { ...item, encrypted_content: `sealed ${item_id}` };
  yield event('response.output_item.done', { output_index: place, item: done });
}

function* callItem(step: Extract<ModelStep, { type: 'call' }>, place: number): Generator<Block> {
  const text = typeof step.args === 'string' ? step.args : JSON.stringify(step.args);
  const item_id = `fc_${place}`;
  const item = { id: item_id, type: 'function_call', status: 'in_progress', call_id: step.callId, name: step.name };
  const position = { item_id, output_index: place };
  yield event('response.output_item.added', { output_index: place, item: { ...item, arguments: '' } });
  for (const delta of halves(text)) yield event('response.function_call_arguments.delta', { ...position, delta });
  yield event('response.function_call_arguments.done', { ...position, arguments: text });
  const done = { ...item, status: 'completed', arguments: text };
  yield event('response.output_item.done', { output_index: place, item: done });
}

export function joined(step: Text): string {
  return step.deltas.filter((delta) => typeof delta === 'string').join('');
}

export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
}

function wireUsage(usage: { input: number; cached: number; output: number; reasoning: number }) {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
}

function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 0, ...data })}\n\n`;
}
