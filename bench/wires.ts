/**
 * The client's two transports on bare sockets and pipes, because a library would cost as much as what is measured. They
 * hand out messages as latin1 text: the benchmark's own words are ASCII, and nobody reads the rest.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

export interface Wire {
  send(text: string): void;
  close(): void;
}

/** Where a server of the benchmark listens. */
export interface Endpoint {
  /** `ws://host:port/path` */
  url: string;
  token?: string;
}

type OnMessage = (message: string) => void;
/** The payload of one frame, from `start` to `end` in the bytes that came with it. */
type OnFrame = (data: Buffer, start: number, end: number) => void;

/** One message a line. */
export function openLines(output: Writable, input: Readable, onMessage: OnMessage): Wire {
  let rest = '';
  input.on('data', (chunk: Buffer) => {
    const text = rest + chunk.toString('latin1');
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      onMessage(text.slice(start, end));
      start = end + 1;
    }
    rest = text.slice(start);
  });
  return { send: (text) => output.write(`${text}\n`), close: () => output.end() };
}

export function openWebSocket(endpoint: Endpoint, onMessage: OnMessage): Promise<Wire> {
  return openFrames(endpoint, (data, start, end) => onMessage(data.toString('latin1', start, end)));
}

/** For whoever only counts: nothing is decoded. */
export async function openFrames({ url, token }: Endpoint, onFrame: OnFrame): Promise<Wire> {
  const { hostname, port, host, pathname } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  await once(socket, 'connect');
  const headers = [
    `GET ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
  ];
  socket.write(`${headers.join('\r\n')}\r\n\r\n`);
  const early = await handshake(socket);
  const read = frameReader(socket, onFrame);
  if (early.length > 0) read(early);
  socket.on('data', read);
  return { send: (text) => socket.write(frame(TEXT, Buffer.from(text))), close: () => socket.destroy() };
}

/** Returns what came after the response. */
async function handshake(socket: Socket): Promise<Buffer> {
  let received: Buffer = Buffer.alloc(0);
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    received = Buffer.concat([received, chunk]);
    const end = received.indexOf('\r\n\r\n');
    if (end === -1) continue;
    const response = received.toString('latin1', 0, end);
    if (!response.startsWith('HTTP/1.1 101')) throw new Error(`the upgrade was refused: ${response}`);
    return received.subarray(end + 4);
  }
}

const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

function frameReader(socket: Socket, onFrame: OnFrame): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (let next = frameAt(data, at); next !== undefined; next = frameAt(data, at)) {
      at = next.end;
      if (next.opcode === TEXT) onFrame(data, next.start, next.end);
      else if (next.opcode === PING) socket.write(frame(PONG, data.subarray(next.start, next.end)));
      else if (next.opcode === CLOSE) socket.destroy();
      else throw new Error(`unexpected frame: opcode ${next.opcode}`);
    }
    rest = data.subarray(at);
  };
}

/** Where the payload of the frame at `at` lies; undefined when not all of it is there. */
function frameAt(data: Buffer, at: number): { opcode: number; start: number; end: number } | undefined {
  if (at + 2 > data.length) return undefined;
  const opcode = data[at] as number;
  let length = data[at + 1] as number;
  let start = at + 2;
  if (length === 126) {
    if (at + 4 > data.length) return undefined;
    length = data.readUInt16BE(at + 2);
    start = at + 4;
  } else if (length === 127) {
    if (at + 10 > data.length) return undefined;
    length = Number(data.readBigUInt64BE(at + 2));
    start = at + 10;
  }
  const end = start + length;
  // The upper bit says that the frame is the message's last; servers do not mask.
  return end > data.length ? undefined : { opcode: opcode & 0x7f, start, end };
}

/** With a mask of zeros, which changes nothing: clients have to have one. */
function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const header = Buffer.alloc(length < 126 ? 6 : length < 65_536 ? 8 : 14);
  header[0] = 0x80 | opcode;
  if (length < 126) header[1] = 0x80 | length;
  else if (length < 65_536) {
    header[1] = 0x80 | 126;
    header.writeUInt16BE(length, 2);
  } else {
    header[1] = 0x80 | 127;
    header.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([header, payload]);
}
