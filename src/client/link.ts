/**
 * A connection that comes back by itself: one WebSocket after the other to the same server. It knows when to retry, when
 * to wait and when to give up; what is said over it is its owner's business, and so is saying it again.
 */
import { type Advice, adviceOn, adviceOnStatus, backoff, type RefusedReason } from './close-codes.ts';
import type { Address, Ports, Wire } from './ports.ts';

export type LinkState =
  | { kind: 'connecting' }
  | { kind: 'open' }
  /** Lost, with the close code if there was one; the next attempt is coming. */
  | { kind: 'waiting'; code: number | undefined }
  /** The machine has no network: nothing is tried until it has. */
  | { kind: 'offline' }
  | { kind: 'refused'; reason: RefusedReason }
  | { kind: 'closed' };

export interface LinkOptions {
  /** Asked before every attempt: a ticket is good for one, and a server that restarts may listen elsewhere. */
  address(): Address | Promise<Address>;
  onMessage(text: string): void;
  onState(state: LinkState): void;
  ports: Ports;
}

/** The server is heard at least every 16.5 s (`_pixir/heartbeat`); after three silent beats it is gone, whatever TCP says. */
const SILENT_MS = 45_000;
const CHECK_MS = 15_000;

export class Link {
  readonly #options: LinkOptions;
  readonly #ports: Ports;
  #state: LinkState = { kind: 'closed' };
  #wire: Wire | undefined;
  /** Losses since the connection was last of use. */
  #losses = 0;
  #heardAt = 0;
  #cancelTimer = () => {};
  #ignoreNetwork = () => {};

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#ports = options.ports;
  }

  get state(): LinkState {
    return this.#state;
  }

  /** Connects, or tries again at once: the first time, after it was refused, or instead of waiting. */
  start(): void {
    const { kind } = this.#state;
    if (kind === 'open' || kind === 'connecting') return;
    if (kind === 'closed') this.#ignoreNetwork = this.#ports.onOnline(() => this.#networkChanged());
    this.#connect();
  }

  /** False when there is no open connection: nothing was sent, and `onState` will say when to try again. */
  send(text: string): boolean {
    if (this.#state.kind !== 'open') return false;
    this.#wire?.send(text);
    return true;
  }

  /** The connection has been of use: the next loss is retried quickly again. */
  proved(): void {
    this.#losses = 0;
  }

  /** Gives up for a reason of the owner's. */
  refuse(reason: RefusedReason): void {
    this.#again({ kind: 'stop', reason });
  }

  close(): void {
    this.#drop();
    this.#ignoreNetwork();
    this.#become({ kind: 'closed' });
  }

  #become(state: LinkState): void {
    this.#state = state;
    this.#options.onState(state);
  }

  /** Whatever the old socket and the old timer still say is not heard. */
  #drop(): void {
    this.#cancelTimer();
    const old = this.#wire;
    this.#wire = undefined;
    old?.close();
  }

  #connect(): void {
    this.#drop();
    const attempt: LinkState = { kind: this.#ports.online() ? 'connecting' : 'offline' };
    this.#become(attempt);
    if (attempt.kind === 'offline') return;
    Promise.resolve()
      .then(this.#options.address)
      .then(
        (address) => this.#state === attempt && this.#open(address),
        () => this.#state === attempt && this.#again(RETRY),
      );
  }

  #open(address: Address): void {
    this.#heardAt = this.#ports.now();
    this.#watch();
    const wire: Wire = this.#ports.connect(address, {
      open: () => {
        if (this.#wire === wire) this.#become({ kind: 'open' });
      },
      message: (text) => {
        if (this.#wire !== wire) return;
        this.#heardAt = this.#ports.now();
        this.#options.onMessage(text);
      },
      closed: (code) => {
        if (this.#wire !== wire) return;
        if (this.#state.kind === 'open') this.#again(adviceOn(code), code);
        else void this.#explain(address, wire);
      },
    });
    this.#wire = wire;
  }

  /** Half-open connections report nothing: only silence tells. */
  #watch(): void {
    this.#cancelTimer = this.#ports.after(CHECK_MS, () => {
      if (this.#ports.now() - this.#heardAt >= SILENT_MS) this.#again(RETRY);
      else this.#watch();
    });
  }

  /** A WebSocket that does not open says only that; a plain request to the same place says why. */
  async #explain(address: Address, failed: Wire): Promise<void> {
    const advice = await this.#ports.status(address).then(adviceOnStatus, () => RETRY);
    if (this.#wire === failed) this.#again(advice);
  }

  #again(advice: Advice, code?: number): void {
    this.#drop();
    if (advice.kind === 'stop') {
      this.#become({ kind: 'refused', reason: advice.reason });
    } else if (!this.#ports.online()) {
      this.#become({ kind: 'offline' });
    } else {
      const wait = Math.max(advice.atLeastMs, backoff(this.#losses, this.#ports.random));
      this.#losses++;
      this.#cancelTimer = this.#ports.after(wait, () => this.#connect());
      this.#become({ kind: 'waiting', code });
    }
  }

  #networkChanged(): void {
    if (this.#state.kind === 'offline' || this.#state.kind === 'waiting') this.#connect();
  }
}

const RETRY: Advice = { kind: 'retry', atLeastMs: 0 };
