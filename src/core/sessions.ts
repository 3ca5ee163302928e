/**
 * The table of live Sessions: at most one Session object per id, however many ask for it at once. It lives as long as
 * somebody holds it; then its Log is all there is of it, and enough to bring it back.
 */
import { Approvals } from './approvals.ts';
import type { Beginning } from './event.ts';
import { Session, type SessionPorts } from './session.ts';

/** A Session that is kept alive until this is disposed of. Disposing twice changes nothing. */
export interface Hold extends Disposable {
  session: Session;
  approvals: Approvals;
}

interface Place {
  opening: Promise<Omit<Hold, keyof Disposable>>;
  /** Once it is open. */
  session?: Session;
  holders: number;
}

export class Sessions {
  readonly #ports: SessionPorts;
  readonly #permissionTimeoutMs: number;
  readonly #onHeld: (id: string, held: boolean) => void;
  readonly #places = new Map<string, Place>();

  /** @param onHeld hears when the first takes hold of a Session and when the last lets go of it. */
  constructor(ports: SessionPorts, permissionTimeoutMs: number, onHeld: (id: string, held: boolean) => void) {
    this.#ports = ports;
    this.#permissionTimeoutMs = permissionTimeoutMs;
    this.#onHeld = onHeld;
  }

  /** @throws CoreError `already_exists`, `log_write_failed`. */
  create(beginning: Beginning): Promise<Hold> {
    return this.#hold(beginning[0].sessionId, () => Session.create(this.#ports, beginning));
  }

  /** The Session of this id, opened from its Log where it is not live yet. @throws CoreError `unknown_session`. */
  hold(id: string): Promise<Hold> {
    return this.#hold(id, () => Session.open(this.#ports, id));
  }

  /** The Session of this id, if it is live and open: a look, which keeps nothing alive and opens nothing. */
  live(id: string): Session | undefined {
    return this.#places.get(id)?.session;
  }

  /** Every Session that is live now, those still opening included. */
  async all(): Promise<Session[]> {
    const settled = await Promise.allSettled([...this.#places.values()].map(({ opening }) => opening));
    return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value.session] : []));
  }

  /** Counted before the first await: between looking a Session up and holding it, nobody can drop it. */
  async #hold(id: string, make: () => Promise<Session>): Promise<Hold> {
    const place: Place = this.#places.get(id) ?? { opening: this.#open(make), holders: 0 };
    this.#places.set(id, place);
    if (place.holders++ === 0) this.#onHeld(id, true);
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      place.holders--;
      if (place.holders > 0) return;
      this.#places.delete(id);
      this.#onHeld(id, false);
    };
    try {
      const opened = await place.opening;
      place.session = opened.session;
      return { ...opened, [Symbol.dispose]: release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #open(make: () => Promise<Session>) {
    const session = await make();
    return { session, approvals: new Approvals(session, this.#ports.clock, this.#permissionTimeoutMs) };
  }
}
