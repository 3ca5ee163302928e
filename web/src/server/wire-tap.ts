/**
 * Watches the frames of the connection on their way: for the wire panel, for bug reports, and for the notifications about
 * the list of Sessions. It changes nothing of them, keeps only the last few, and ends a connection that is dead already or
 * that a person wants to see come back.
 */
import type { SessionsChanged } from '../../../src/client/connect.ts';
import { type Ports, type Wire as Socket, systemPorts } from '../../../src/client/ports.ts';
import { createStore } from '../state/store.ts';
import { type Frame, headOf, placeOf, shortened } from './frames.ts';
import { atServer } from './home.ts';

export interface Wire {
  /** Those that opened, in the life of this page. */
  connections: number;
  received: number;
  sent: number;
  /** Between the last quick request and its answer. */
  latencyMs: number | undefined;
  /** How many updates that moved a cursor came since the connection opened. */
  sinceOpen: number;
  /** An attempt to connect is under way this moment. */
  isTrying: boolean;
  /** What the server answered to a plain request, where the last attempt did not open; undefined: nothing. */
  lastStatus: number | undefined;
}

const KEPT = 300;
const PUBLISH_MS = 250;
/** A network that has gone to sleep lets an attempt hang for minutes. */
const OPEN_WITHIN_MS = 10_000;
const LOST = 1006;
const CHANGED = '_pixir/sessions/changed';
/** They cost the server nothing, so that what passes is the way there and back. */
const QUICK = new Set(['initialize', 'session/list', '_pixir/sessions/watch', '_pixir/session/attach']);

const now: Wire = {
  connections: 0,
  received: 0,
  sent: 0,
  latencyMs: undefined,
  sinceOpen: 0,
  isTrying: false,
  lastStatus: undefined,
};
/** What the tap has seen, a few times a second; `wireNow` is of this moment. */
export const wire = createStore<Wire>({ ...now });
let publishing = false;

const frames: Frame[] = [];
let lastNumber = 0;
const cursors = new Map<string, string>();
/** By id: what we asked and wait for, and what the server asked us. */
const asked = new Map<string, { method: string; at: number }>();
const askedUs = new Map<string, string>();
const listeners = new Set<(changed: SessionsChanged) => void>();
let current: { cut(): void } | undefined;

export function wireNow(): Wire {
  return { ...now };
}

/** The last ones, oldest first. */
export function lastFrames(): readonly Frame[] {
  return frames;
}

/** How far the page has come in a Session. */
export function lastCursor(sessionId: string): string | undefined {
  return cursors.get(sessionId);
}

/** Hears what the server says of the list of Sessions. @returns what ends it. */
export function onSessionsChanged(listener: (changed: SessionsChanged) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Ends the connection as the network would: the client comes back by itself. */
export function cut(): void {
  current?.cut();
}

export const tappedPorts: Pick<Ports, 'connect' | 'status' | 'online'> = {
  connect(address, on) {
    let isOver = false;
    let hasOpened = false;
    const socket = systemPorts.connect(address, {
      open() {
        stopWaiting();
        hasOpened = true;
        opened();
        on.open();
      },
      message(text) {
        came(text);
        on.message(text);
      },
      closed: (code) => end(code),
    });
    const stopWaiting = systemPorts.after(OPEN_WITHIN_MS, () => end(LOST));
    const tap: Socket & { cut(): void } = { close, send, cut: () => end(LOST) };
    current = tap;
    change({ isTrying: true });

    function finish(how: string): void {
      isOver = true;
      stopWaiting();
      socket.close();
      if (current === tap) current = undefined;
      note('closed', hasOpened ? how : 'did not open');
      change({ isTrying: false });
    }
    function close(): void {
      if (!isOver) finish('closed by this page');
    }
    function end(code: number): void {
      if (isOver) return;
      finish(`closed, code ${code}`);
      on.closed(code);
    }
    function send(text: string): void {
      left(text);
      socket.send(text);
    }
    return tap;
  },

  async status(address) {
    const answer = Promise.race([systemPorts.status(address), tooLate()]);
    change({ lastStatus: await answer.catch(() => undefined) });
    return answer;
  },

  /** A server on this machine needs no network. */
  online: () => isLocal || systemPorts.online(),
};

const isLocal = /^(localhost|127\.[\d.]+|\[::1\])$/.test(atServer('').hostname);

function tooLate(): Promise<never> {
  return new Promise((_, reject) => setTimeout(() => reject(new Error('no answer')), OPEN_WITHIN_MS));
}

function opened(): void {
  asked.clear();
  askedUs.clear();
  change({ connections: now.connections + 1, sinceOpen: 0, isTrying: false, lastStatus: undefined });
  note('opened', `connection ${now.connections}`);
}

function left(text: string): void {
  const { id, method } = headOf(text);
  if (id !== undefined && method !== undefined) asked.set(id, { method, at: performance.now() });
  const answers = method === undefined ? take(askedUs, id) : undefined;
  keep('out', text, method ?? answers, method === undefined);
  change({ sent: now.sent + 1 });
}

function came(text: string): void {
  const { id, method } = headOf(text);
  if (id !== undefined && method !== undefined) askedUs.set(id, method);
  const answers = method === undefined ? take(asked, id) : undefined;
  keep('in', text, method ?? answers?.method, method === undefined);
  now.received++;
  if (answers && QUICK.has(answers.method)) now.latencyMs = performance.now() - answers.at;
  const place = method === undefined ? undefined : placeOf(text);
  if (place) cursors.set(place.sessionId, place.cursor);
  if (place && method === 'session/update') now.sinceOpen++;
  change({});
  if (method === CHANGED) tellChanged(text);
}

function tellChanged(text: string): void {
  const { params } = JSON.parse(text) as { params: SessionsChanged };
  for (const sessionId of params.removed) cursors.delete(sessionId);
  for (const listener of listeners) listener(params);
}

function take<T>(waiting: Map<string, T>, id: string | undefined): T | undefined {
  if (id === undefined) return undefined;
  const found = waiting.get(id);
  waiting.delete(id);
  return found;
}

function note(direction: 'opened' | 'closed', text: string): void {
  keep(direction, text, undefined, false);
}

function keep(direction: Frame['direction'], text: string, method: string | undefined, isAnswer: boolean): void {
  lastNumber++;
  const kept = shortened(text);
  frames.push({ number: lastNumber, at: Date.now(), direction, size: text.length, method, isAnswer, text: kept });
  if (frames.length > KEPT) frames.shift();
}

function change(part: Partial<Wire>): void {
  Object.assign(now, part);
  if (publishing) return;
  publishing = true;
  setTimeout(() => {
    publishing = false;
    wire.set(wireNow());
  }, PUBLISH_MS);
}
