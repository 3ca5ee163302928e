/** An in-memory connection: the transport contract's simplest implementation, whose network the test controls. */
import { LOW_WATER, type OpenPeer } from '../../src/acp/transport.ts';
import { LOCAL } from '../../src/core/principal.ts';
import { WireClient } from './wire-client.ts';

export interface MemoryConnection {
  client: WireClient;
  /** What the other side has not taken: while paused, everything that is sent piles up here. */
  pause(): void;
  /** Takes the oldest of what waits, until at most this many bytes are left; stays paused. */
  takeDownTo(left: number): void;
  resume(): void;
  /** Bytes that wait while paused. */
  waiting(): number;
  /** The code with which the other side closed, once it has. */
  closedWith(): number | undefined;
}

/** Connects a client to a Peer. Messages arrive in order, each in a microtask of its own. */
export function connectInMemory(open: OpenPeer, principal = LOCAL): MemoryConnection {
  const client = new WireClient();
  let closed = false;
  let paused = false;
  const buffered: string[] = [];
  let onDrain = () => {};
  const deliver = (text: string) => queueMicrotask(() => client.receive(text));
  let bytes = 0;
  let code: number | undefined;
  const receiver = open(
    {
      send(text) {
        if (closed) return;
        if (!paused) return deliver(text);
        buffered.push(text);
        bytes += Buffer.byteLength(text);
      },
      close(closeCode) {
        code = closeCode;
        end();
      },
      get bufferedAmount() {
        return bytes;
      },
      onDrain(callback) {
        onDrain = callback;
      },
    },
    principal,
  );
  function takeDownTo(left: number): void {
    while (bytes > left) {
      const frame = buffered.shift() ?? '';
      bytes -= Buffer.byteLength(frame);
      deliver(frame);
    }
    if (bytes < LOW_WATER) onDrain();
  }
  function end(): void {
    if (closed) return;
    closed = true;
    receiver.closed();
    client.ended();
  }
  client.open({ send: (text) => queueMicrotask(() => !closed && receiver.receive(text)), close: end });
  return {
    client,
    waiting: () => bytes,
    closedWith: () => code,
    pause() {
      paused = true;
    },
    takeDownTo,
    resume() {
      paused = false;
      takeDownTo(0);
    },
  };
}
