/**
 * What carries an agent: a child process on stdio, or a WebSocket. It moves bytes and never looks into them.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { WebSocket } from 'ws';

export type Target =
  | { kind: 'stdio'; command: string; args: readonly string[] }
  | { kind: 'websocket'; url: string; headers: Readonly<Record<string, string>> };

export interface Ending {
  /** The exit code of the process or the close code of the socket. */
  code: number | null;
  reason: string;
}

export interface Transport {
  readonly kind: Target['kind'];
  /** Headers of the answer to the upgrade; none on stdio. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** Sends one message. */
  send(message: string): void;
  /** Sends bytes as they are: on stdio without a newline, over WebSocket as one frame. */
  sendRaw(bytes: string | Uint8Array, frame?: 'text' | 'binary'): void;
  readonly closed: Promise<Ending>;
  stderr(): string;
  /** The end of stdin, or a close frame. */
  end(): void;
  /** Ends the process with its whole group, or cuts the socket. */
  kill(): void;
}

export type Receive = (message: Buffer) => void;

/** The server answered the upgrade with something else. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the server refused the connection with ${status}`);
    this.status = status;
  }
}

export function connect(target: Target, receive: Receive): Promise<Transport> {
  return target.kind === 'stdio' ? startProcess(target, receive) : openSocket(target, receive);
}

type Process = Extract<Target, { kind: 'stdio' }>;
type Socket = Extract<Target, { kind: 'websocket' }>;

async function startProcess({ command, args }: Process, receive: Receive): Promise<Transport> {
  // A group of its own, so that nothing the agent starts survives the run.
  const child = spawn(command, args, { stdio: 'pipe', detached: true });
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  child.stdout.on('data', lines(receive));
  child.stdin.on('error', () => undefined);
  const { promise: closed, resolve } = Promise.withResolvers<Ending>();
  child.on('error', (error) => resolve({ code: null, reason: `cannot start ${command}: ${error.message}` }));
  const stderr = () => Buffer.concat(errors).toString();
  child.on('close', (code, signal) => {
    const log = stderr().trimEnd().split('\n');
    const why = log.find((line) => /error/i.test(line)) ?? log.at(-1);
    resolve({ code, reason: `${signal ?? `exit code ${code}`}${why ? `, stderr: ${why}` : ''}` });
  });
  const stop = () => {
    killGroup(child);
    // Whoever left the group may hold the pipes open.
    child.stdout.destroy();
    child.stderr.destroy();
  };
  process.once('exit', stop);
  void closed.then(() => process.off('exit', stop));
  return {
    kind: 'stdio',
    headers: {},
    send: (message) => void child.stdin.write(`${message}\n`),
    sendRaw: (bytes) => void child.stdin.write(bytes),
    closed,
    stderr,
    end: () => child.stdin.end(),
    kill: stop,
  };
}

function killGroup({ pid }: ChildProcessWithoutNullStreams): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}

/** Cuts a stream at newlines. */
function lines(receive: Receive): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      receive(Buffer.concat([...parts, chunk.subarray(start, end)]));
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  };
}

async function openSocket({ url, headers }: Socket, receive: Receive): Promise<Transport> {
  const socket = new WebSocket(url, { headers: { ...headers }, perMessageDeflate: false, handshakeTimeout: 30_000 });
  const { promise: closed, resolve } = Promise.withResolvers<Ending>();
  let answer: Readonly<Record<string, unknown>> = {};
  socket.on('upgrade', (response) => {
    answer = response.headers;
  });
  socket.on('message', (data) => receive(data as Buffer));
  socket.on('close', (code, reason) => resolve({ code, reason: `close code ${code} ${reason}`.trim() }));
  await new Promise<void>((opened, failed) => {
    socket.on('open', opened);
    socket.on('error', failed);
    socket.on('unexpected-response', (request, response) => {
      request.destroy();
      failed(new Refused(response.statusCode ?? 0));
    });
  });
  return {
    kind: 'websocket',
    headers: answer,
    send: (message) => socket.send(message),
    sendRaw: (bytes, frame = 'text') => socket.send(bytes, { binary: frame === 'binary' }),
    closed,
    stderr: () => '',
    end: () => socket.close(1000),
    kill: () => socket.terminate(),
  };
}
