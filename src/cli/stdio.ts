/**
 * ACP over a pair of streams: one message per line, in UTF-8, whatever the locale. It must never write anything but
 * messages to the output, and never wait for the other side to read.
 */
import type { Readable, Writable } from 'node:stream';
import { LOW_WATER, type OpenPeer, type Receiver, type Transport } from '../acp/transport.ts';
import { CoreError } from '../core/errors.ts';
import type { Principal } from '../core/principal.ts';

const LF = 0x0a;
const CR = 0x0d;
const MAX_LINE_BYTES = 32 * 1024 * 1024;

export interface StdioOptions {
  input: Readable;
  output: Writable;
  openPeer: OpenPeer;
  principal: Principal;
  maxLineBytes?: number;
  /** Called when the input has ended, before the Peer is closed: the place to stop what would go on for ever. */
  inputEnded?: () => Promise<void>;
}

/** How long the answers to what was asked last may take once nobody can ask any more. */
const LAST_ANSWERS_MS = 5_000;

/**
 * Serves one Peer until either side ends, then resolves as soon as what was sent has left the process.
 *
 * @throws CoreError `too_large` when a line is longer than the limit: where the next message begins is then unknown.
 */
export function serveStdio(options: StdioOptions): Promise<void> {
  const { input, output } = options;
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  const writer = createWriter(output);
  let ended = false;

  const end = (error?: CoreError) => {
    if (ended) return;
    ended = true;
    input.off('data', onData).destroy();
    writer.flush();
    receiver.closed();
    writer.whenIdle(() => (error ? reject(error) : resolve()));
  };

  const transport: Transport = {
    send(text) {
      if (!ended) writer.write(`${text}\n`);
    },
    // Not at once: a Peer that closes while it is being called is told of the end when it is done.
    close: () => process.nextTick(end),
    get bufferedAmount() {
      return writer.pending();
    },
    onDrain: (callback) => writer.onDrain(callback),
  };

  const receiver = options.openPeer(transport, options.principal);
  const lines = createLineSplitter(options.maxLineBytes ?? MAX_LINE_BYTES, (line) => {
    if (!ended) receiver.receive(line);
  });
  const onData = (chunk: Buffer) => {
    if (!lines.push(chunk)) end(new CoreError('too_large', 'a line on the input is longer than the limit'));
  };

  input.on('data', onData);
  let over = false;
  const inputOver = () => {
    if (over || ended) return;
    over = true;
    lines.finish();
    void lastAnswers(options, receiver).then(() => end());
  };
  input.on('end', inputOver);
  input.on('close', inputOver);
  // A terminal that has gone away reports an error instead of an end.
  input.on('error', () => end());
  // The other side has closed its end (EPIPE): nothing can be said any more, and that is no fault of ours.
  output.on('error', () => end());
  output.on('close', () => end());
  return done;
}

/** What was asked before the input ended is still answered: a client that pipes its requests gets all it asked for. */
async function lastAnswers({ inputEnded }: StdioOptions, receiver: Receiver): Promise<void> {
  const { promise: tooLong, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LAST_ANSWERS_MS);
  const answered = (async () => {
    await inputEnded?.();
    await receiver.idle();
  })();
  await Promise.race([answered.catch(() => undefined), tooLong]);
  clearTimeout(timer);
}

interface LineSplitter {
  /** False when a line has grown beyond the limit. */
  push(chunk: Buffer): boolean;
  /** Hands out what came after the last newline. */
  finish(): void;
}

/**
 * Splits at the byte LF only: it is never part of another character, so each line is decoded whole and no character
 * can be torn. Bytes that are not UTF-8 become U+FFFD, which the JSON parser then refuses or keeps inside a string.
 */
function createLineSplitter(maxBytes: number, onLine: (line: string) => void): LineSplitter {
  let parts: Buffer[] = [];
  let length = 0;

  const emit = (last: Buffer) => {
    const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
    parts = [];
    length = 0;
    const text = line.toString('utf8', 0, line.at(-1) === CR ? line.length - 1 : line.length);
    if (/\S/.test(text)) onLine(text);
  };

  return {
    push(chunk) {
      let start = 0;
      for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, start)) {
        if (length + at - start > maxBytes) return false;
        emit(chunk.subarray(start, at));
        start = at + 1;
      }
      length += chunk.length - start;
      if (start < chunk.length) parts.push(chunk.subarray(start));
      return length <= maxBytes;
    },
    finish() {
      if (length > 0) emit(Buffer.alloc(0));
    },
  };
}

interface Writer {
  write(text: string): void;
  flush(): void;
  pending(): number;
  onDrain(callback: () => void): void;
  /** Calls back once everything written has been taken, or cannot be any more. */
  whenIdle(callback: () => void): void;
}

/** Collects what is written in one tick and hands it over in one piece: one system call instead of one a message. */
function createWriter(output: Writable): Writer {
  let batch = '';
  let drained = () => {};

  const pending = () => output.writableLength + batch.length;
  const flush = () => {
    const text = batch;
    batch = '';
    if (text !== '' && output.writable) output.write(text, written);
  };
  const written = (error?: Error | null) => {
    if (!error && pending() < LOW_WATER) drained();
  };

  return {
    write(text) {
      if (batch === '') process.nextTick(flush);
      batch += text;
    },
    flush,
    pending,
    onDrain(callback) {
      drained = callback;
    },
    whenIdle(callback) {
      if (pending() === 0 || !output.writable) callback();
      else output.write('', () => callback());
    },
  };
}
