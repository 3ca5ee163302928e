/** `pixir run`: one prompt, streamed to the terminal. A client like any other: it only reads the Session and answers. */
import { createInterface } from 'node:readline/promises';
import type { Signal } from '../core/bus.ts';
import { answer, attach, configure, interrupt, resume, send } from '../core/conversation.ts';
import { type Event, modeSchema, newId, permissionModeSchema } from '../core/event.ts';
import { start } from '../core/lifecycle.ts';
import { LOCAL } from '../core/principal.ts';
import type { Runtime } from '../core/runtime.ts';
import type { Session } from '../core/session.ts';
import { type Command, EXIT, type Io, readArgs, UsageError } from './command.ts';
import { compose } from './compose.ts';
import { loadConfig } from './config.ts';

const PAGE = 500;

export const run: Command = {
  async run(args, io) {
    const { values, positionals } = readArgs(args, {
      allowPositionals: true,
      options: {
        cwd: { type: 'string', default: process.cwd() },
        mode: { type: 'string' },
        'permission-mode': { type: 'string' },
        session: { type: 'string' },
        json: { type: 'boolean', default: false },
        'data-dir': { type: 'string' },
      },
    });
    const text = positionals.join(' ');
    if (text.trim() === '') throw new UsageError('run needs a prompt');
    const mode = oneOf('--mode', modeSchema.safeParse(values.mode ?? 'build'));
    const permissionMode = oneOf(
      '--permission-mode',
      permissionModeSchema.safeParse(values['permission-mode'] ?? 'auto'),
    );
    const config = loadConfig({ command: 'run', flags: { dataDir: values['data-dir'] } }, io.env);
    await using stack = new AsyncDisposableStack();
    const { runtime } = stack.adopt(await compose(config, io.env), ({ close }) => close('interrupt'));
    const session = values.session
      ? await resume(runtime, LOCAL, values.session)
      : await start(runtime, LOCAL, { workspace: values.cwd, mode });
    if (values.session && values.mode) await configure(runtime, LOCAL, session.id, { mode });
    return await converse(runtime, session.id, { text, permissionMode, json: values.json }, io);
  },
};

function oneOf<T>(flag: string, parsed: { success: true; data: T } | { success: false }): T {
  if (!parsed.success) throw new UsageError(`${flag} has no such value`);
  return parsed.data;
}

interface Request {
  text: string;
  permissionMode: 'auto' | 'ask' | 'read_only';
  json: boolean;
}

async function converse(runtime: Runtime, sessionId: string, request: Request, io: Io): Promise<number> {
  const reader = await follow(runtime, sessionId, request.json, io);
  const cancel = () => void interrupt(runtime, LOCAL, sessionId).catch(runtime.onError);
  io.signal.addEventListener('abort', cancel, { once: true });
  try {
    const { done } = await send(runtime, LOCAL, {
      sessionId,
      turnId: newId('turn'),
      messageId: newId('usr'),
      content: [{ type: 'text', text: request.text }],
      permissionMode: request.permissionMode,
    });
    if (io.signal.aborted) cancel();
    const end = await done;
    return await reader.finish(end.seq);
  } finally {
    io.signal.removeEventListener('abort', cancel);
    reader.stop();
  }
}

/** Prints what happens, in Log order, and remembers how it ended. */
async function follow(runtime: Runtime, sessionId: string, json: boolean, io: Io) {
  let exit: number = EXIT.done;
  let seen = 0;
  /** How much of which message has been printed while it streamed. */
  let printed = { messageId: '', length: 0 };
  let work: Promise<void> = Promise.resolve();

  function print(messageId: string, offset: number, text: string): void {
    const have = printed.messageId === messageId ? printed.length : 0;
    if (offset + text.length <= have) return;
    io.stdout.write(text.slice(have - offset));
    printed = { messageId, length: offset + text.length };
  }

  async function show(event: Event): Promise<void> {
    if (json) io.stdout.write(`${JSON.stringify(event)}\n`);
    if (event.type === 'permission_requested') void decide(event).catch(runtime.onError);
    if (event.type === 'permission_decision' && event.data.decision === 'deny') exit = EXIT.denied;
    if (event.type === 'turn_finished') exit = exitCode(event, exit);
    if (json) return;
    if (event.type === 'assistant_message') {
      print(event.data.messageId, 0, event.data.text);
      io.stdout.write('\n');
    }
    if (event.type === 'tool_call') io.stderr.write(`> ${event.data.title}\n`);
    if (event.type === 'tool_result' && event.data.error) io.stderr.write(`  ${event.data.error.message}\n`);
    if (event.type === 'turn_finished' && event.data.error) io.stderr.write(`pixir: ${event.data.error.message}\n`);
  }

  /** A person at a terminal is asked; nobody else can have said yes. */
  async function decide({ data: { permissionId, callId } }: Event<'permission_requested'>): Promise<void> {
    const title = watch.session.state.openCalls.get(callId)?.title ?? 'this call';
    const yes = io.stdin.isTTY === true && (await confirm(title, io));
    await answer(runtime, LOCAL, sessionId, { permissionId, decision: yes ? 'allow' : 'deny' });
  }

  async function readOn(): Promise<void> {
    for (;;) {
      const page = await watch.session.read(seen, PAGE);
      if (page.length === 0) return;
      for (const { event } of page) {
        await show(event);
        seen = event.seq;
      }
    }
  }

  const onSignal = (signal: Signal) => {
    if (signal.type === 'committed') work = work.then(readOn);
    if (signal.type === 'delta' && signal.kind === 'message' && !json)
      print(signal.messageId, signal.offset, signal.text);
  };
  const watch = await attach(runtime, LOCAL, sessionId, onSignal);
  seen = (watch.session as Session).head;
  return {
    stop: watch.stop,
    async finish(seq: number): Promise<number> {
      while (seen < seq) {
        work = work.then(readOn);
        await work;
      }
      return exit;
    },
  };
}

function exitCode({ data }: Event<'turn_finished'>, before: number): number {
  if (data.outcome === 'cancelled') return EXIT.interrupted;
  return data.outcome === 'completed' ? before : EXIT.failed;
}

async function confirm(title: string, io: Io): Promise<boolean> {
  const terminal = createInterface({ input: io.stdin, output: io.stderr });
  try {
    const line = await terminal.question(`Allow: ${title} ? [y/N] `, { signal: io.signal });
    return /^y(es)?$/i.test(line.trim());
  } finally {
    terminal.close();
  }
}
