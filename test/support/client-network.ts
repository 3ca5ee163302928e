/**
 * A network between the reference client and Peers, in memory, that a test can break: cut it, half-open it, pause it,
 * refuse it. Frames are delivered in order, each in a microtask of its own.
 */
import { LOW_WATER, type OpenPeer } from '../../src/acp/transport.ts';
import type { Ports, Wire, WireEvents } from '../../src/client/ports.ts';
import { LOCAL } from '../../src/core/principal.ts';
import type { FakeClock } from './fake-clock.ts';
import { checkFrame } from './schema.ts';

export interface ClientNetwork {
  /** For `connect(url, {ports})`. */
  ports: Ports;
  /** Ends the connection, as a dropped socket does; both sides hear of it. */
  cut(code?: number): void;
  /** From now on nothing arrives on this connection, in either direction, and nobody is told. */
  halfOpen(): void;
  /** What the server sends waits; its Peer sees the bytes pile up. */
  pause(): void;
  /** Takes the oldest frames of what waits; stays paused. */
  trickle(frames: number): void;
  resume(): void;
  /** What a waiting byte counts for: a test need not send a megabyte to be too far behind. */
  weight: number;
  /** While false, every attempt fails at once; `status` is what a plain request is answered. */
  reachable: boolean;
  status: number;
  online: boolean;
  /** The machine's network went or came. */
  networkChanged(): void;
  /** Hears every frame before it is delivered; `false` loses it and everything after it on this connection. */
  tap: (direction: 'in' | 'out', frame: string) => boolean;
  /** Connections that were opened. */
  readonly connections: number;
}

interface Connected {
  cut(code: number): void;
  halfOpen(): void;
  pause(): void;
  trickle(frames: number): void;
  resume(): void;
}

/** @param open asked for each connection: a server that was restarted is another one. */
export function clientNetwork(open: () => OpenPeer, clock: FakeClock, random: () => number = () => 0): ClientNetwork {
  let current: Connected | undefined;
  let connections = 0;
  let onOnline = () => {};
  const network: ClientNetwork = {
    ports: {
      connect(_address, on) {
        if (!network.reachable) {
          queueMicrotask(() => on.closed(1006));
          return { send() {}, close() {} };
        }
        connections++;
        const { wire, control } = pair(open(), on, network);
        current = control;
        return wire;
      },
      status: async () => network.status,
      online: () => network.online,
      onOnline(callback) {
        onOnline = callback;
        return () => {};
      },
      now: clock.now,
      after: clock.after,
      random,
    },
    cut: (code = 1006) => current?.cut(code),
    halfOpen: () => current?.halfOpen(),
    pause: () => current?.pause(),
    trickle: (frames) => current?.trickle(frames),
    resume: () => current?.resume(),
    weight: 1,
    reachable: true,
    status: 426,
    online: true,
    networkChanged: () => onOnline(),
    tap: () => true,
    get connections() {
      return connections;
    },
  };
  return network;
}

function pair(open: OpenPeer, on: WireEvents, network: Pick<ClientNetwork, 'tap' | 'weight'>) {
  let ended = false;
  let dead = false;
  let paused = false;
  const waiting: { text: string; bytes: number }[] = [];
  let bytes = 0;
  let drained = () => {};
  const asked = new Map<unknown, string>();

  const toClient = (text: string) =>
    queueMicrotask(() => {
      if (ended || dead || !network.tap('in', text)) return;
      checkFrame(text, (id) => asked.get(id));
      on.message(text);
    });
  const receiver = open(
    {
      send(text) {
        if (ended || dead) return;
        if (!paused) return toClient(text);
        const frame = { text, bytes: Buffer.byteLength(text) * network.weight };
        waiting.push(frame);
        bytes += frame.bytes;
      },
      close: (code) => control.cut(code),
      get bufferedAmount() {
        return bytes;
      },
      onDrain(callback) {
        drained = callback;
      },
    },
    LOCAL,
  );
  function end(): void {
    if (ended) return;
    ended = true;
    receiver.closed();
  }
  const control: Connected = {
    cut(code) {
      const told = !ended;
      end();
      if (told) queueMicrotask(() => on.closed(code));
    },
    halfOpen() {
      dead = true;
    },
    pause() {
      paused = true;
    },
    trickle(frames) {
      for (const frame of waiting.splice(0, frames)) {
        bytes -= frame.bytes;
        toClient(frame.text);
      }
      if (bytes < LOW_WATER) drained();
    },
    resume() {
      paused = false;
      control.trickle(waiting.length);
    },
  };
  const wire: Wire = {
    send(text) {
      const { id, method } = JSON.parse(text) as { id?: unknown; method?: string };
      if (method !== undefined) asked.set(id, method);
      queueMicrotask(() => {
        if (!ended && !dead && network.tap('out', text)) receiver.receive(text);
      });
    },
    // A half-open connection is not noticed by the server either.
    close: () => !dead && end(),
  };
  queueMicrotask(() => !ended && on.open());
  return { wire, control };
}
