/** Raw requests for the scanner: bytes out, bytes in, nothing repaired on the way. It must never judge what it sees. */
import { once } from 'node:events';
import { connect } from 'node:net';

/** Nobody who answers at all takes so long; it ends only what would never end by itself. */
const PATIENCE_MS = 1_000;

export interface Answer {
  status: number;
  headers: Map<string, string[]>;
  body: string;
}

/** Sends these bytes and returns everything that came until the server closed, or until it had been quiet for too long. */
export async function exchangeBytes(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (text) => {
    received += text;
    // An upgrade that was accepted stays open.
    if (received.startsWith('HTTP/1.1 101')) socket.destroy();
  });
  socket.on('error', () => undefined).setTimeout(PATIENCE_MS, () => socket.destroy());
  socket.write(bytes, 'latin1');
  await once(socket, 'close');
  return received;
}

/** The answers in what came back; those that only say "go on" are none. */
export function answersIn(received: string): Answer[] {
  const parts = received.split(/(?=HTTP\/1\.[01] \d{3} )/).filter((part) => /^HTTP\/1\.[01] (?!100)/.test(part));
  return parts.map((part) => {
    const [head = '', ...rest] = part.split('\r\n\r\n');
    const headers = new Map<string, string[]>();
    for (const line of head.split('\r\n').slice(1)) {
      const [, name = '', value = ''] = line.match(/^([^:]+): ?(.*)$/) ?? [];
      headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value]);
    }
    return { status: Number(head.slice(9, 12)), headers, body: rest.join('\r\n\r\n') };
  });
}
