/** An editor that offers its services, in the test's hands: what it is asked, in order, and what it answers. */
import type { ScriptStep } from '../../src/providers/script.ts';
import { call, finish, say } from '../../src/providers/script.ts';
import { createTools } from '../../src/tools/index.ts';
import type { Frame } from '../support/schema.ts';
import type { WireClient } from '../support/wire-client.ts';
import { type World, type WorldOptions, world } from '../support/world.ts';

type Params = Record<string, unknown>;

/** Answered with an error. */
export const REFUSED = Symbol('refused');
/** Not answered at all. */
export const SILENCE = Symbol('silence');

interface Editor {
  client: WireClient;
  /** The methods that it was asked, in order; what is shown of a call is in there as its content's type. */
  readonly asked: string[];
  /** The params of each request of this method. */
  params(method: string): Params[];
  /** What it answers; a method that is not here it refuses. */
  readonly answers: Record<string, (params: Params) => unknown>;
  /** Answers what it has left open. */
  answer(frame: Frame, result: unknown): void;
  /** The first request of this method. */
  request(method: string): Promise<Frame>;
}

export const ALL = { fs: { readTextFile: true, writeTextFile: true }, terminal: true, elicitation: { form: {} } };

export async function editorAt(client: WireClient, capabilities: unknown): Promise<Editor> {
  const asked: string[] = [];
  const requests: Frame[] = [];
  const editor: Editor = {
    client,
    asked,
    params: (method) => requests.filter((frame) => frame.method === method).map(({ params }) => params ?? {}),
    answers: {},
    answer: ({ id }, result) => client.raw({ jsonrpc: '2.0', id, result }),
    request: (method) => client.frame((frame) => frame.method === method && frame.id !== undefined),
  };
  client.onFrame = (frame) => {
    const { id, method, params = {} } = frame;
    if (method === undefined || method === 'session/request_permission') return;
    if (id === undefined) return void asked.push(...shownBy(frame));
    asked.push(method);
    requests.push(frame);
    const result = editor.answers[method]?.(params) ?? REFUSED;
    const refused = { code: -32603, message: 'no' };
    if (result === REFUSED) client.raw({ jsonrpc: '2.0', id, error: refused });
    else if (result !== SILENCE) editor.answer(frame, result);
  };
  await client.initialize(capabilities);
  return editor;
}

/** A cancelled request, or a terminal that is embedded in a call. */
function shownBy({ method, params }: Frame): string[] {
  if (method === '$/cancel_request') return [method];
  const { content } = (params?.update ?? {}) as { content?: unknown };
  return (Array.isArray(content) ? content : []).filter(({ type }) => type === 'terminal').map(() => 'embedded');
}

export interface Sitting extends AsyncDisposable, Editor {
  w: World;
  sessionId: string;
  /** The result of the n-th call, as the Log has it. */
  result(index?: number): Promise<{ ok: boolean; output: string; error?: { kind: string }; diffs?: unknown }>;
  /** One prompt to its end. */
  go(): Promise<unknown>;
}

type Calls = readonly (readonly [tool: string, args: Params])[];

/** A Turn of these calls, one after the other, by the real tools. */
export function turnOf(calls: Calls): ScriptStep[][] {
  const steps = calls.map(([tool, args], index) => [call(`c${index + 1}`, tool, args as never), finish()]);
  return [...steps, [...say('Done.'), finish()]];
}

export async function sitting(capabilities: unknown, calls: Calls, options: WorldOptions = {}): Promise<Sitting> {
  const tools = createTools({ env: { PATH: process.env.PATH } });
  const w = await world({ script: turnOf(calls), tools, ...options });
  const editor = await editorAt(w.connect().client, capabilities);
  const sessionId = await editor.client.newSession(w.dir);
  return {
    ...editor,
    w,
    sessionId,
    async result(index = 0) {
      const results = (await w.events(sessionId)).filter(({ type }) => type === 'tool_result');
      return results[index]?.data as Awaited<ReturnType<Sitting['result']>>;
    },
    go: () => editor.client.prompt(sessionId, 'go'),
    [Symbol.asyncDispose]: () => w[Symbol.asyncDispose](),
  };
}
