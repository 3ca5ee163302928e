/**
 * An MCP server as a process of our own, spoken to over its stdin and stdout. It is confined as commands are, in its own
 * process group, and nothing of it outlives the connection; however much it says, it is read only so fast.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { endTree, MARKER, treeOf } from './process-tree.ts';
import type { ConfinedProgram } from './sandbox.ts';

/** The longest message of a server. */
export const MESSAGE_BYTES = 8 * 1024 * 1024;
/** What is read of a server in a millisecond: far more than an honest one says, and no work for others to wait for. */
export const BYTES_PER_MS = 16 * 1024;
/** What a server may leave unread of what we say. */
const UNREAD_BYTES = 1024 * 1024;
/** How long it may take to end by itself once its stdin has ended. */
const GOODBYE_MS = 200;

type Child = ChildProcessByStdio<Writable, Readable, null>;

export class ProcessTransport implements Transport {
  readonly #program: ConfinedProgram;
  readonly #cwd: string;
  readonly #lines = new ReadBuffer({ maxBufferSize: MESSAGE_BYTES });
  #child: Child | undefined;
  #ending: Promise<void> | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  #closed: Promise<unknown> = Promise.resolve();
  #end: () => Promise<unknown> = async () => {};
  onclose?: () => void;
  onmessage?: Transport['onmessage'];

  /** Takes the program over: it is disposed of with the process. */
  constructor(program: ConfinedProgram, cwd: string) {
    this.#program = program;
    this.#cwd = cwd;
  }

  async start(): Promise<void> {
    const { file, args, env, confined } = this.#program;
    const marker = randomBytes(8).toString('hex');
    const child: Child = spawn(file, args, {
      cwd: this.#cwd,
      env: { ...env, [MARKER]: marker },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child = child;
    const exit = Promise.withResolvers<void>();
    this.#exited = exit.promise;
    this.#closed = new Promise((resolve) => child.once('close', resolve));
    child.once('exit', () => exit.resolve());
    // It could not be started.
    child.once('error', () => exit.resolve());
    // It stopped reading, or has ended: the latter is heard of by itself.
    child.stdin.on('error', () => {});
    child.stdout.on('data', (chunk: Buffer) => this.#read(child, chunk));
    if (child.pid !== undefined) {
      const tree = treeOf(child.pid, marker, confined);
      this.#end = () => endTree(tree);
    }
    void exit.promise.then(() => this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    stdin?.write(serializeMessage(message));
    if (stdin && stdin.writableLength > UNREAD_BYTES) await this.close();
  }

  close(): Promise<void> {
    this.#ending ??= this.#finish();
    return this.#ending;
  }

  async #finish(): Promise<void> {
    this.#child?.stdin.end();
    await Promise.race([this.#exited, delay(GOODBYE_MS)]);
    await this.#end();
    // What it said last is still in the pipe; somebody whom we cannot see may hold it open.
    await Promise.race([this.#closed, delay(GOODBYE_MS)]);
    this.#child?.stdin.destroy();
    this.#child?.stdout.destroy();
    this.#lines.clear();
    this.#program[Symbol.dispose]();
    this.onclose?.();
  }

  #read(child: Child, chunk: Buffer): void {
    try {
      this.#lines.append(chunk);
    } catch {
      // A line without end.
      void this.close();
      return;
    }
    while (this.#readMessage());
    child.stdout.pause();
    setTimeout(() => child.stdout.resume(), chunk.length / BYTES_PER_MS).unref();
  }

  /** False when there is no whole line left. */
  #readMessage(): boolean {
    try {
      const message = this.#lines.readMessage();
      if (message === null) return false;
      this.onmessage?.(message);
    } catch {
      // Not a message: many servers print what they should not.
    }
    return true;
  }
}
