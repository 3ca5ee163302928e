/** The steps that requirements share. A step that fails for a reason of its own leaves the requirement unjudged. */
import { type Answer, type Client, codeOf } from './client.ts';
import type { Message } from './frame.ts';
import { expect, get, isObject, show, skip } from './requirement.ts';
import type { World } from './world.ts';

export interface Session {
  sessionId: string;
  modes?: unknown;
  configOptions?: unknown;
}

export interface Turn {
  sessionId: string;
  id: number;
  /** The first frame that can belong to it. */
  start: number;
  answer: Promise<Answer>;
}

type Update = Record<string, unknown> & { sessionUpdate: string };

const STOP_REASONS = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'];
/** The kinds of updates that are part of a Turn, and so may not come after it. */
const OF_A_TURN = [
  'user_message_chunk',
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
];

let turns = 0;

export async function newSession({ cwd }: World, client: Client, more: object = {}): Promise<Session> {
  const answer = await client.request('session/new', { cwd, mcpServers: [], ...more });
  const sessionId = get(answer.result, 'sessionId');
  if (typeof sessionId !== 'string') skip(`no session (SESSION-001): ${show(answer.error ?? answer.result)}`);
  return { ...(answer.result as object), sessionId };
}

export function startTurn(client: Client, sessionId: string, prompt: string | object[], more: object = {}): Turn {
  const blocks = typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt;
  const start = client.frames.length;
  const id = 500_000 + ++turns;
  return { sessionId, id, start, answer: client.request('session/prompt', { sessionId, prompt: blocks, ...more }, id) };
}

/** A whole Turn. Its answer is whatever came. */
export async function say(
  client: Client,
  sessionId: string,
  prompt: string | object[],
  more: object = {},
): Promise<Turn> {
  const turn = startTurn(client, sessionId, prompt, more);
  await turn.answer;
  return turn;
}

/** A Turn that is running and will go on until it is cancelled. */
export async function busyTurn({ prompts }: World, client: Client, sessionId: string): Promise<Turn> {
  const turn = startTurn(client, sessionId, prompts.busy);
  const isOfIt = (message: Message) => message.id === turn.id || (isUpdate(message, sessionId) && isOfATurn(message));
  await client.frame(turn.start, isOfIt, 'the busy prompt').catch(() => undefined);
  await client.fence();
  if (hasEnded(client, turn)) skip('it answered the prompt `busy` at once; --prompts can give one that keeps it busy');
  return turn;
}

/** A Turn that waits for a permission. */
export async function askingTurn(
  { prompts }: World,
  client: Client,
  sessionId: string,
): Promise<{ turn: Turn; request: Message }> {
  client.handlers.set('session/request_permission', () => undefined);
  const turn = startTurn(client, sessionId, prompts.permission);
  const isRequest = ({ method }: Message) => method === 'session/request_permission';
  const request = await client.frame(turn.start, (m) => isRequest(m) || m.id === turn.id, 'the prompt `permission`');
  if (!isRequest(request)) skip('it did not ask for a permission; --prompts can give a prompt that makes it ask');
  return { turn, request };
}

export function hasEnded({ frames }: Client, { id }: Turn): boolean {
  return frames.some(({ from, message }) => from === 'agent' && !message?.method && String(message?.id) === String(id));
}

export async function cancel(client: Client, { sessionId, answer }: Turn): Promise<unknown> {
  client.notify('session/cancel', { sessionId });
  return stopReason(await answer);
}

export function stopReason(answer: Answer): unknown {
  return get(answer.result, 'stopReason');
}

export async function expectEnd({ answer }: Turn): Promise<void> {
  const reply = await answer;
  const reason = stopReason(reply);
  expect(STOP_REASONS.includes(String(reason)), `a prompt was answered with ${show(reply.error ?? reply.result)}`);
}

export function expectError(answer: Answer, code: number, what: string): void {
  expect(answer.error, `${what}: accepted with ${show(answer.result)}`);
  expect(codeOf(answer) === code, `${what}: ${show(answer.error)} instead of ${code}`);
}

export function isUpdate({ method, params }: Message, sessionId: string): boolean {
  return method === 'session/update' && get(params, 'sessionId') === sessionId;
}

export function isOfATurn({ params }: Message): boolean {
  return OF_A_TURN.includes(String(get(params, 'update.sessionUpdate')));
}

/** The updates of a Session among some frames. */
export function updates(client: Client, sessionId: string, from = 0, to = client.frames.length): Update[] {
  return client.frames.slice(from, to).flatMap(({ from: side, message }) => {
    const update =
      side === 'agent' && message && isUpdate(message, sessionId) ? get(message.params, 'update') : undefined;
    return isObject(update) ? [update as Update] : [];
  });
}

export function textOf(list: readonly Update[], kind = 'agent_message_chunk'): string {
  return list
    .filter(({ sessionUpdate }) => sessionUpdate === kind)
    .map((update) => String(get(update, 'content.text') ?? ''))
    .join('');
}

/** Nothing of a Turn, or of a replay, may come after the answer that ends it. */
export async function expectSilence(client: Client, sessionId: string, after: number): Promise<void> {
  await client.fence();
  const late = updates(client, sessionId, after + 1).filter(({ sessionUpdate }) => OF_A_TURN.includes(sessionUpdate));
  expect(late.length === 0, `${late.length} updates came after the answer, the first one ${show(late[0])}`);
}
