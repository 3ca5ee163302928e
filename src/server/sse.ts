/**
 * One event stream of a client: frames wait here until a response takes them, and what was taken is kept for a while, so
 * that a stream that was cut goes on where it was. It must never skip a frame: who cannot be given all is given none.
 */
import type { ServerResponse } from 'node:http';
import { beat } from '../acp/heartbeat.ts';
import type { Clock } from '../core/clock.ts';

/** So much of what was written is kept for a client that comes back, for all streams of a connection together. */
const KEPT_BYTES = 256 * 1024;

interface Frame {
  id: number;
  text: string;
  bytes: number;
}

/** How far back a stream can go: frames up to `lost` are not kept. */
interface Place {
  lost: number;
}

/** The frames that were written last on any stream of one connection. Their ids rise over all of its streams. */
export interface Journal {
  nextId(): number;
  lastId(): number;
  add(place: Place, frame: Frame): void;
  /** Everything that is kept of this stream, which is then kept no longer. */
  take(place: Place): Frame[];
}

export function createJournal(): Journal {
  let lastId = 0;
  let bytes = 0;
  let kept: { place: Place; frame: Frame }[] = [];
  return {
    nextId: () => ++lastId,
    lastId: () => lastId,
    add(place, frame) {
      kept.push({ place, frame });
      bytes += frame.bytes;
      while (bytes > KEPT_BYTES) {
        const oldest = kept.shift();
        if (!oldest) return;
        oldest.place.lost = oldest.frame.id;
        bytes -= oldest.frame.bytes;
      }
    },
    take(place) {
      const taken = kept.filter((entry) => entry.place === place).map(({ frame }) => frame);
      kept = kept.filter((entry) => entry.place !== place);
      bytes -= sizeOf(taken);
      return taken;
    },
  };
}

export interface SseOptions {
  clock: Clock;
  journal: Journal;
  /** Fewer bytes wait than before. */
  onFlush(): void;
  /** The client reads no more. */
  onClose(): void;
}

export class SseStream {
  readonly #options: SseOptions;
  /** What no response has taken yet. */
  #queue: Frame[] = [];
  #queuedBytes = 0;
  #response: ServerResponse | undefined;
  /** The last frame before this stream's first, and the last that a response has taken. */
  #began: number;
  #written: number;
  readonly #place: Place;

  constructor(options: SseOptions) {
    this.#options = options;
    this.#began = options.journal.lastId();
    this.#written = this.#began;
    this.#place = { lost: this.#began };
  }

  /** Bytes that the system has not taken yet. */
  get unsent(): number {
    return this.#queuedBytes + (this.#response?.writableLength ?? 0);
  }

  /** A client reads it. */
  get isOpen(): boolean {
    return this.#response !== undefined;
  }

  send(text: string): void {
    const frame = { id: this.#options.journal.nextId(), text, bytes: Buffer.byteLength(text) };
    this.#queue.push(frame);
    this.#queuedBytes += frame.bytes;
    if (this.#response) this.#pump(this.#response);
  }

  /**
   * Goes on in a new response, in the place of an older one.
   *
   * @param lastEventId the last frame that the client has; undefined: none.
   * @returns false when not everything after that can be sent: then nothing is, and `begin` is not called.
   */
  open(begin: () => ServerResponse, lastEventId: string | undefined): boolean {
    const from = this.#startAfter(lastEventId);
    if (from === undefined) return false;
    const missed = this.#options.journal.take(this.#place).filter(({ id }) => id > from);
    this.#queue = [...missed, ...this.#queue];
    this.#queuedBytes += sizeOf(missed);
    this.#written = from;
    this.#place.lost = from;
    this.#attach(begin());
    return true;
  }

  /** Begins anew with what comes: the client knows that it has lost its place. */
  forget(): void {
    const { journal, onFlush } = this.#options;
    journal.take(this.#place);
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#began = journal.lastId();
    this.#written = this.#began;
    this.#place.lost = this.#began;
    onFlush();
  }

  /** Ends the response, after everything that waits. */
  end(): void {
    if (!this.#response) return;
    this.#pump(this.#response, true);
    this.#response.end();
  }

  destroy(): void {
    this.#response?.destroy();
  }

  /** The frame after which the client goes on. One that names none has none, so none may have been written. */
  #startAfter(lastEventId: string | undefined): number | undefined {
    if (lastEventId === undefined) return !this.isOpen && this.#written === this.#began ? this.#began : undefined;
    const id = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : -1;
    return id >= this.#place.lost && id <= this.#written ? id : undefined;
  }

  #attach(response: ServerResponse): void {
    const { clock, onFlush, onClose } = this.#options;
    this.#response?.destroy();
    this.#response = response;
    const stopBeating = beat(clock, async () => void response.write(':\n\n'));
    response.on('drain', () => this.#pump(response));
    response.once('close', () => {
      stopBeating();
      if (this.#response !== response) return;
      this.#response = undefined;
      onClose();
      onFlush();
    });
    this.#pump(response);
  }

  /** Leaves in the queue what the socket would only hold: of that, a cut loses nothing. */
  #pump(response: ServerResponse, everything = false): void {
    while (everything || !response.writableNeedDrain) {
      const frame = this.#queue.shift();
      if (!frame) return;
      this.#queuedBytes -= frame.bytes;
      this.#written = frame.id;
      this.#options.journal.add(this.#place, frame);
      response.write(`id: ${frame.id}\ndata: ${frame.text}\n\n`, this.#options.onFlush);
    }
  }
}

function sizeOf(frames: readonly Frame[]): number {
  return frames.reduce((sum, { bytes }) => sum + bytes, 0);
}
