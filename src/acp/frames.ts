/**
 * Encoded frames of one Session. Encoding is what costs most per client, so what is the same for every reader of an
 * Event or a delta is encoded once and shared.
 */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { Signal } from '../core/bus.ts';
import type { Event } from '../core/event.ts';
import type { Entry } from '../core/log.ts';
import { encodeNotification } from './jsonrpc.ts';
import { chunkOf } from './translate.ts';
import type { StateChange, UpdateMeta, UpdateParams } from './wire.ts';

export function updateParams(sessionId: string, update: SessionUpdate, meta?: UpdateMeta): UpdateParams {
  return meta ? { sessionId, update, _meta: { pixir: meta } } : { sessionId, update };
}

export function encodeUpdate(sessionId: string, update: SessionUpdate, meta?: UpdateMeta): string {
  return encodeNotification('session/update', updateParams(sessionId, update, meta));
}

type Delta = Extract<Signal, { type: 'delta' }>;
/** Clients that asked for cursors get other frames than those that did not. */
type Variant = 'plain' | 'cursor';

const deltaFrames: Record<Variant, WeakMap<Delta, string>> = { plain: new WeakMap(), cursor: new WeakMap() };
const entryFrames: Record<Variant, WeakMap<Entry, string[]>> = { plain: new WeakMap(), cursor: new WeakMap() };

/**
 * The frame of one live delta: the same for all who have seen everything before it.
 *
 * @param cursor the position after it, where the client asked for cursors.
 */
export function deltaFrame(sessionId: string, delta: Delta, cursor: (() => string) | undefined): string {
  const shared = deltaFrames[cursor ? 'cursor' : 'plain'];
  let frame = shared.get(delta);
  if (frame === undefined) {
    const [update] = chunkOf(delta.kind, delta.messageId, delta.text);
    frame = update ? encodeUpdate(sessionId, update, cursor && { cursor: cursor() }) : '';
    shared.set(delta, frame);
  }
  return frame;
}

/** Its frames are the same for every reader that has seen nothing of it. */
export function isForAll(event: Event, thoughts: boolean): boolean {
  return (thoughts || event.type !== 'reasoning') && !('compactionId' in event.data);
}

/** The frames of one entry for a reader that has seen nothing of it; `make` is called for the first such reader only. */
export function sharedFrames(entry: Entry, variant: Variant, make: () => string[]): string[] {
  const shared = entryFrames[variant];
  const frames = shared.get(entry) ?? make();
  shared.set(entry, frames);
  return frames;
}

/** That a Turn has begun or ended; undefined where the Event says neither. */
export function stateFrame({ sessionId, type, data }: Event, cursor: () => string): string | undefined {
  if (type !== 'turn_started' && type !== 'turn_finished') return undefined;
  const { turnId } = data;
  const key = type === 'turn_started' ? data.promptKey : undefined;
  const said: StateChange = {
    sessionId,
    cursor: cursor(),
    state: type === 'turn_started' ? 'running' : 'idle',
    turn: { turnId, ...(key ? { promptKey: key } : {}) },
  };
  return encodeNotification('_pixir/session/state', said);
}
