/**
 * What a client has offered, as the port that tools use: the one place where its capabilities are looked at. What is not
 * offered is not there, so it cannot be asked for.
 */
import type { ClientCapabilities } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import type { ClientServices, ClientTerminal, Question, TerminalCommand } from '../core/client-services.ts';
import { CoreError } from '../core/errors.ts';
import { visible } from '../core/visible.ts';
import type { ClientRequests, Reply } from './client-requests.ts';

/** How long a client may take for what no person is asked about. */
const WORK_MS = 30_000;
/** How long an ended command is waited for, and what is left of it. */
const END_MS = 5_000;

interface ServicesOptions {
  sessionId: string;
  requests: ClientRequests;
  /** Those of the client's terminals that have not been released. */
  terminals: Set<string>;
  /** How long a person may take to answer. */
  answerMs: number;
}

/** Whoever offers something without being clear about it has not offered it. */
export function servicesOf(
  { fs, terminal, elicitation }: ClientCapabilities,
  options: ServicesOptions,
): ClientServices {
  const { sessionId, requests, answerMs } = options;
  const work = { timeoutMs: WORK_MS };
  const services: ClientServices = {};
  if (fs?.readTextFile === true)
    services.readTextFile = async (path, signal) => {
      const answer = { schema: textSchema, signal, ...work };
      return (await requests.call('fs/read_text_file', { sessionId, path }, answer)).content;
    };
  if (fs?.writeTextFile === true)
    services.writeTextFile = async (path, content, signal) => {
      const answer = { schema: doneSchema, signal, ...work };
      await requests.call('fs/write_text_file', { sessionId, path, content }, answer);
    };
  if (terminal === true) services.openTerminal = (command, signal) => openTerminal(options, command, signal);
  if (typeof elicitation?.form === 'object' && elicitation.form !== null)
    services.ask = async (question, signal) => {
      const answer = { schema: formSchema, signal, timeoutMs: answerMs };
      return answerOf(question, await requests.call('elicitation/create', formOf(sessionId, question), answer));
    };
  return services;
}

const textSchema = z.object({ content: z.string() });
/** Some clients answer with nothing at all. */
const doneSchema = z.looseObject({}).nullish();
const terminalSchema = z.object({ terminalId: z.string().min(1).max(1_024) });
const outputSchema = z.object({ output: z.string(), truncated: z.boolean() });
const exitSchema = z.object({ exitCode: z.int().nullish(), signal: z.string().max(64).nullish() });
const formSchema = z.discriminatedUnion('action', [
  z.object({ action: z.literal('accept'), content: z.looseObject({}).nullish() }),
  z.object({ action: z.literal('decline') }),
  z.object({ action: z.literal('cancel') }),
]);

async function openTerminal(
  { sessionId, requests, terminals }: ServicesOptions,
  { command, args, cwd, outputBytes }: TerminalCommand,
  signal: AbortSignal,
): Promise<ClientTerminal> {
  const release = (terminalId: string) => {
    terminals.delete(terminalId);
    // Nobody waits: the answer says nothing, and what follows is read after it.
    requests.ask('terminal/release', { sessionId, terminalId }, () => undefined);
  };
  // It was started although nobody wants it any more.
  const late = (reply: Reply) => {
    const { data } = terminalSchema.safeParse(reply.type === 'response' ? reply.result : undefined);
    if (data) release(data.terminalId);
  };
  const params = { sessionId, command, args, cwd, outputByteLimit: outputBytes };
  const created = { schema: terminalSchema, signal, timeoutMs: WORK_MS, late };
  const { terminalId } = await requests.call('terminal/create', params, created);
  terminals.add(terminalId);
  const it = { sessionId, terminalId };
  return {
    terminalId,
    async exited(until) {
      const { exitCode, signal: by } = await requests.call('terminal/wait_for_exit', it, {
        schema: exitSchema,
        signal: until,
      });
      return { code: exitCode ?? null, killedBy: by ?? null };
    },
    async output() {
      const answer = { schema: outputSchema, timeoutMs: END_MS };
      const { output: text, truncated } = await requests.call('terminal/output', it, answer);
      return { text, truncated };
    },
    async kill() {
      await requests.call('terminal/kill', it, { schema: doneSchema, timeoutMs: END_MS });
    },
    [Symbol.dispose]: () => release(terminalId),
  };
}

function formOf(sessionId: string, { callId: toolCallId, text, options }: Question) {
  const message = text.split('\n').map(visible).join('\n');
  const answer = { type: 'string', title: 'Answer', ...(options && { enum: options }) };
  const requestedSchema = { type: 'object', properties: { answer }, required: ['answer'] };
  return { sessionId, toolCallId, mode: 'form', message, requestedSchema };
}

function answerOf({ options }: Question, given: z.infer<typeof formSchema>): string | undefined {
  if (given.action !== 'accept') return undefined;
  const answer = given.content?.answer;
  if (typeof answer === 'string' && (!options || options.includes(answer))) return answer;
  throw new CoreError('outcome_unknown', 'the answer of the client cannot be read');
}
