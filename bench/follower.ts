/** A client that decodes nothing and only looks for a mark in what comes: fifty of them must cost less than the server. */
import { type Endpoint, openFrames } from './wires.ts';

export interface Follower {
  send(text: string): void;
  request(id: number, method: string, params: object): void;
  /** Resolves when a frame with this mark has come, from now on. */
  until(mark: string): Promise<void>;
}

export async function openFollower(endpoint: Endpoint): Promise<Follower> {
  let mark = '';
  let arrived = Promise.withResolvers<void>();
  let searched: Buffer | undefined;
  let found = -1;

  const wire = await openFrames(endpoint, (data, start, end) => {
    // Once for everything that came together.
    if (data !== searched) found = data.indexOf(mark);
    searched = data;
    if (found >= start && found < end) arrived.resolve();
  });
  return {
    send: (text) => wire.send(text),
    request: (id, method, params) => wire.send(JSON.stringify({ jsonrpc: '2.0', id, method, params })),
    until(next) {
      mark = next;
      arrived = Promise.withResolvers();
      return arrived.promise;
    },
  };
}
