/** The fake model as a Chat Completions server would stream it. */
import { halves } from './fake-openai-responses.ts';
import type { Block, ModelStep } from './fake-openai-steps.ts';

const FIELDS = { message: 'content', refusal: 'refusal', thought: 'reasoning_content' } as const;

/** @param includeUsage as the request asked; without it no usage comes. */
export function* chatBlocks(steps: readonly ModelStep[], includeUsage: boolean): Generator<Block> {
  let calls = 0;
  yield delta({ role: 'assistant', content: '' });
  for (const step of steps) {
    switch (step.type) {
      case 'message':
      case 'refusal':
      case 'thought':
        for (const piece of step.deltas) {
          yield typeof piece === 'string' ? delta({ [FIELDS[step.type]]: piece }) : piece;
        }
        break;
      case 'call':
        yield* callBlocks(step, calls++);
        break;
      case 'hold':
        yield step.until;
        break;
      case 'garbage':
        yield `data: ${step.data}\n\n`;
        break;
      case 'error':
        yield `data: ${JSON.stringify({ error: { code: step.code, message: step.message } })}\n\n`;
        return;
      case 'incomplete':
      case 'usage':
        break;
      default:
        yield step.type;
    }
  }
  yield chunk({ choices: [{ index: 0, delta: {}, finish_reason: finishReason(steps, calls) }] });
  const usage = steps.find((step) => step.type === 'usage')?.usage;
  if (usage && includeUsage) {
    yield chunk({
      choices: [],
      usage: {
        prompt_tokens: usage.input,
        prompt_tokens_details: { cached_tokens: usage.cached },
        completion_tokens: usage.output,
        completion_tokens_details: { reasoning_tokens: usage.reasoning },
      },
    });
  }
  yield 'data: [DONE]\n\n';
}

function* callBlocks(step: Extract<ModelStep, { type: 'call' }>, index: number): Generator<Block> {
  const text = typeof step.args === 'string' ? step.args : JSON.stringify(step.args);
  const head = { index, id: step.callId, type: 'function', function: { name: step.name, arguments: '' } };
  yield delta({ tool_calls: [head] });
  for (const half of halves(text)) yield delta({ tool_calls: [{ index, function: { arguments: half } }] });
}

function finishReason(steps: readonly ModelStep[], calls: number): string {
  const incomplete = steps.find((step) => step.type === 'incomplete');
  if (incomplete) return incomplete.reason === 'content_filter' ? 'content_filter' : 'length';
  return calls > 0 ? 'tool_calls' : 'stop';
}

function delta(content: object): string {
  return chunk({ choices: [{ index: 0, delta: content, finish_reason: null }] });
}

function chunk(content: object): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-fake', object: 'chat.completion.chunk', created: 0, ...content })}\n\n`;
}
