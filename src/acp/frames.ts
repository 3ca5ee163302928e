/**
 * Encoded frames of one Session. Encoding is what costs most per client, so what is the same for every reader of an
 * Event or a delta is encoded once and shared.
 */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { Signal } from '../core/bus.ts';
import type { Entry } from '../core/log.ts';
import { encodeNotification } from './jsonrpc.ts';
import { chunkOf } from './translate.ts';

export function encodeUpdate(sessionId: string, update: SessionUpdate): string {
  return encodeNotification('session/update', { sessionId, update });
}

type Delta = Extract<Signal, { type: 'delta' }>;

const deltaFrames = new WeakMap<Delta, string>();
const eventFrames = new WeakMap<Entry, string[]>();

/** The frame of one live delta: the same for all who have seen everything before it. */
export function deltaFrame(sessionId: string, delta: Delta): string {
  let frame = deltaFrames.get(delta);
  if (frame === undefined) {
    const [update] = chunkOf(delta.kind, delta.messageId, delta.text);
    frame = update ? encodeUpdate(sessionId, update) : '';
    deltaFrames.set(delta, frame);
  }
  return frame;
}

/** The frames of one entry for a reader that has seen nothing of it; `make` is called for the first such reader only. */
export function entryFrames(entry: Entry, make: () => SessionUpdate[]): string[] {
  let frames = eventFrames.get(entry);
  if (!frames) {
    frames = make().map((update) => encodeUpdate(entry.event.sessionId, update));
    eventFrames.set(entry, frames);
  }
  return frames;
}
