/**
 * What the model of the benchmark says: whole answers of the Responses API, encoded before anybody waits for them, so
 * that the model is never the bottleneck.
 */

/** Every delta is this long, so that text tells how many there were, however they were put together on the way. */
export const DELTA_LENGTH = 6;

/** `one`, `deltas N`, `chunks N`, `paced N MS`, `read PATH`; anything else is `one`. */
type Scenario =
  | { kind: 'text'; deltas: number; chunked: boolean }
  /** One delta every so many milliseconds. */
  | { kind: 'paced'; deltas: number; pace: number }
  /** First the call; when its result comes back, one delta. */
  | { kind: 'read'; path: string };

export function scenarioOf(prompt: string): Scenario {
  const [word = '', argument = '', pace = ''] = prompt.split(' ');
  if (word === 'read') return { kind: 'read', path: argument };
  if (word === 'paced') return { kind: 'paced', deltas: Number(argument), pace: Number(pace) };
  const deltas = word === 'deltas' || word === 'chunks' ? Number(argument) : 1;
  return { kind: 'text', deltas, chunked: word === 'chunks' };
}

export function expectedDeltas(prompt: string): number {
  const scenario = scenarioOf(prompt);
  return scenario.kind === 'read' ? 1 : scenario.deltas;
}

/** The text of the delta at this place. */
export function deltaAt(index: number): string {
  return `w${String(index % 10_000).padStart(4, '0')} `;
}

/** The events of one answer, each as the bytes of its own server-sent event. */
export function textEvents(deltas: number): string[] {
  const pieces = Array.from({ length: deltas }, (_, index) => deltaAt(index));
  const text = pieces.join('');
  const position = { item_id: 'msg_bench', output_index: 0, content_index: 0 };
  const item = { id: 'msg_bench', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
  const part = { type: 'output_text', text, annotations: [], logprobs: [] };
  const done = { ...item, status: 'completed', content: [part] };
  return encode([
    ...OPENING,
    ['response.output_item.added', { output_index: 0, item }],
    ['response.content_part.added', { ...position, part: { ...part, text: '' } }],
    ...pieces.map((delta): Step => ['response.output_text.delta', { ...position, delta, logprobs: [] }]),
    ['response.output_text.done', { ...position, text, logprobs: [] }],
    ['response.content_part.done', { ...position, part }],
    ['response.output_item.done', { output_index: 0, item: done }],
    completed([done]),
  ]);
}

/** @param callId must be another one each time. */
export function readEvents(path: string, callId: string): string[] {
  const text = JSON.stringify({ path });
  const item = { id: 'fc_bench', type: 'function_call', status: 'in_progress', call_id: callId, name: 'read' };
  const position = { item_id: 'fc_bench', output_index: 0 };
  const done = { ...item, status: 'completed', arguments: text };
  return encode([
    ...OPENING,
    ['response.output_item.added', { output_index: 0, item: { ...item, arguments: '' } }],
    ['response.function_call_arguments.delta', { ...position, delta: text }],
    ['response.function_call_arguments.done', { ...position, arguments: text }],
    ['response.output_item.done', { output_index: 0, item: done }],
    completed([done]),
  ]);
}

type Step = readonly [type: string, data: object];

const RESPONSE = { id: 'resp_bench', object: 'response', created_at: 0, model: 'bench', error: null };
const STARTED = { response: { ...RESPONSE, status: 'in_progress', output: [], usage: null } };
const OPENING: Step[] = [
  ['response.created', STARTED],
  ['response.in_progress', STARTED],
];

function completed(output: object[]): Step {
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 110,
  };
  return ['response.completed', { response: { ...RESPONSE, status: 'completed', output, usage } }];
}

function encode(steps: readonly Step[]): string[] {
  return steps.map(
    ([type, data], sequence_number) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...data })}\n\n`,
  );
}
