/** An in-memory connection: the transport contract's simplest implementation, whose network the test controls. */
import type { OpenPeer } from '../../src/acp/transport.ts';
import { WireClient } from './wire-client.ts';

export interface MemoryConnection {
  client: WireClient;
  /** What the other side has not taken: while paused, everything that is sent piles up here. */
  pause(): void;
  resume(): void;
}

/** Connects a client to a Peer. Messages arrive in order, each in a microtask of its own. */
export function connectInMemory(open: OpenPeer, principal = 'local'): MemoryConnection {
  const client = new WireClient();
  let closed = false;
  let paused = false;
  let buffered: string[] = [];
  let onDrain = () => {};
  const deliver = (text: string) => queueMicrotask(() => client.receive(text));
  const receiver = open(
    {
      send(text) {
        if (closed) return;
        if (paused) buffered.push(text);
        else deliver(text);
      },
      close() {
        end();
      },
      get bufferedAmount() {
        return buffered.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      },
      onDrain(callback) {
        onDrain = callback;
      },
    },
    principal,
  );
  function end(): void {
    if (closed) return;
    closed = true;
    receiver.closed();
    client.ended();
  }
  client.open({ send: (text) => queueMicrotask(() => !closed && receiver.receive(text)), close: end });
  return {
    client,
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
      const frames = buffered;
      buffered = [];
      for (const frame of frames) deliver(frame);
      onDrain();
    },
  };
}
