/**
 * The model server of the benchmark, a process of its own: the text of the prompt says what it answers, and it remembers
 * when each answer began and ended, so that an agent's own time can be told from the model's.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { now } from './measure.ts';
import { readEvents, scenarioOf, textEvents } from './model-script.ts';
import { endWithParent, environmentOf, firstLine, scratchDirectory, startNode } from './processes.ts';

/** One answer: from the request's arrival until its last byte was taken by the system. */
interface ModelAnswer {
  began: number;
  ended: number;
}

export interface Model {
  baseUrl: string;
  /** The answers since this was last asked, oldest first. */
  answers(): Promise<ModelAnswer[]>;
}

export async function startModel(): Promise<Model> {
  const running = startNode([import.meta.filename], environmentOf(scratchDirectory('model')));
  const url = await firstLine(running);
  return {
    baseUrl: `${url}/v1`,
    answers: async () => (await (await fetch(`${url}/answers`)).json()) as ModelAnswer[],
  };
}

interface RequestBody {
  input: { type?: string; role?: string; content?: string | { text?: string }[] }[];
}

const answers: ModelAnswer[] = [];
const encoded = new Map<string, Buffer>();
let calls = 0;

async function serve(): Promise<void> {
  const server = createServer((request, response) => {
    const began = now();
    if (request.url === '/answers') {
      response.end(JSON.stringify(answers.splice(0)));
      return;
    }
    response.once('finish', () => answers.push({ began, ended: now() }));
    readBody(request, (body) => answer(body, response));
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  endWithParent();
}

function readBody(request: IncomingMessage, use: (body: RequestBody) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => use(JSON.parse(Buffer.concat(chunks).toString())));
}

function answer({ input }: RequestBody, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const scenario = scenarioOf(promptOf(input));
  if (scenario.kind === 'text' && scenario.chunked) {
    response.flushHeaders();
    // Around Node's own encoder, which would be slower than most agents.
    response.socket?.write(chunked(scenario.deltas));
    response.end();
  } else if (scenario.kind === 'text') {
    response.end(whole(scenario.deltas));
  } else if (scenario.kind === 'paced') {
    pace(textEvents(scenario.deltas), scenario.pace, response);
  } else if (input.at(-1)?.type === 'function_call_output') {
    response.end(whole(1));
  } else {
    calls += 1;
    response.end(readEvents(scenario.path, `call_${calls}`).join(''));
  }
}

/** One event at a time; where the clock was late, as many as are due. */
function pace(events: string[], ms: number, response: ServerResponse): void {
  const began = now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.floor((now() - began) / ms);
    if (sent < due) response.write(events.slice(sent, due).join(''));
    sent = due;
    if (sent < events.length) return;
    clearInterval(timer);
    response.end();
  }, ms);
  response.once('close', () => clearInterval(timer));
}

function promptOf(input: RequestBody['input']): string {
  const content = input.findLast(({ role }) => role === 'user')?.content ?? '';
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('');
}

/** All events in one piece, as a burst arrives. */
function whole(deltas: number): Buffer {
  return remembered(`whole ${deltas}`, () => textEvents(deltas).join(''));
}

/** Each event as an HTTP chunk of its own, as servers flush them. */
function chunked(deltas: number): Buffer {
  return remembered(`chunked ${deltas}`, () =>
    textEvents(deltas)
      .map((event) => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`)
      .join(''),
  );
}

function remembered(key: string, make: () => string): Buffer {
  const bytes = encoded.get(key) ?? Buffer.from(make());
  encoded.set(key, bytes);
  return bytes;
}

if (import.meta.main) await serve();
