/**
 * A network that breaks: a proxy over real sockets that counts the WebSocket frames of each direction and, at one of
 * them, cuts the connection or goes silent. It never changes a byte.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** As the client sees it. */
export type Direction = 'in' | 'out';

export interface Fault {
  /**
   * `cut`: both ends hear of it, and the frame is the last to arrive; `torn`: the same, and only half of it arrives;
   * `half_open`: it is the last to arrive, and nobody is told.
   */
  kind: 'cut' | 'torn' | 'half_open';
  direction: Direction;
  /** The frame, counted from 1 over all connections; the handshake counts as one. */
  at: number;
}

/** What has come through since the proxy was armed. */
export interface Passage {
  readonly frames: Readonly<Record<Direction, number>>;
  /** Resolves when the fault has struck. From then on everything comes through. */
  readonly struck: Promise<void>;
}

export interface ChaosProxy extends AsyncDisposable {
  /** Where it listens, as a Host header has it. */
  host: string;
  /** Begins anew: ends every connection, counts from nothing, and lets the fault, if there is one, strike once. */
  arm(fault?: Fault): Passage;
}

/** @param port where the server listens; asked for each connection. */
export async function startChaosProxy(port: () => number): Promise<ChaosProxy> {
  const sockets = new Set<Socket>();
  let trap = setTrap();
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: port(), host: '127.0.0.1', noDelay: true });
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    join(client, server, trap);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const hangUp = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    host: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    arm(fault) {
      hangUp();
      trap = setTrap(fault);
      return trap;
    },
    async [Symbol.asyncDispose]() {
      proxy.close();
      hangUp();
      await once(proxy, 'close');
    },
  };
}

interface Trap extends Passage {
  readonly isSet: boolean;
  /** Counts a frame; says what becomes of it. */
  pass(direction: Direction): 'whole' | Fault['kind'];
}

function setTrap(fault?: Fault): Trap {
  const { promise: struck, resolve } = Promise.withResolvers<void>();
  const frames = { in: 0, out: 0 };
  let isSet = true;
  return {
    frames,
    struck,
    get isSet() {
      return isSet;
    },
    pass(direction) {
      frames[direction]++;
      if (direction !== fault?.direction || frames[direction] !== fault.at) return 'whole';
      isSet = false;
      resolve();
      return fault.kind;
    },
  };
}

/** Carries bytes between two sockets until one of them ends, or the trap says otherwise. */
function join(client: Socket, server: Socket, trap: Trap): void {
  let state: 'open' | 'cut' | 'silent' = 'open';
  function carry(from: Socket, to: Socket, direction: Direction): void {
    // Afterwards there are plain requests too, which consist of no frames.
    const split = trap.isSet ? frameSplitter() : (bytes: Buffer) => [bytes];
    from.on('data', (bytes: Buffer) => {
      for (const frame of split(bytes)) {
        if (state !== 'open') return;
        const fate = trap.pass(direction);
        to.write(fate === 'torn' ? frame.subarray(0, frame.length / 2) : frame);
        if (fate === 'whole') continue;
        state = fate === 'half_open' ? 'silent' : 'cut';
        if (state === 'cut') for (const socket of [from, to]) socket.destroySoon();
      }
    });
    from.on('close', () => {
      if (state !== 'silent') to.destroySoon();
    });
  }
  carry(client, server, 'out');
  carry(server, client, 'in');
}

/** Divides a stream of bytes into the head of the handshake and then frames (RFC 6455, section 5.2); the rest waits. */
function frameSplitter(): (bytes: Buffer) => Iterable<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let measure = headLength;
  return function* (bytes) {
    rest = Buffer.concat([rest, bytes]);
    for (let length = measure(rest); length <= rest.length; length = measure(rest)) {
      yield rest.subarray(0, length);
      rest = rest.subarray(length);
      measure = frameLength;
    }
  };
}

/** @returns Infinity while it cannot be known. */
function headLength(bytes: Buffer): number {
  const end = bytes.indexOf('\r\n\r\n');
  return end < 0 ? Number.POSITIVE_INFINITY : end + 4;
}

function frameLength(bytes: Buffer): number {
  const [, second] = bytes;
  if (second === undefined) return Number.POSITIVE_INFINITY;
  const mask = second & 0x80 ? 4 : 0;
  const length = second & 0x7f;
  if (length < 126) return 2 + mask + length;
  const header = length === 126 ? 4 : 10;
  if (bytes.length < header) return Number.POSITIVE_INFINITY;
  return header + mask + (length === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2)));
}
