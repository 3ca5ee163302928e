/**
 * The table of live Sessions: at most one Session object per id, however many ask for it at once. A Session that nobody
 * watches and that runs nothing is dropped; its Log brings it back.
 */
import { Approvals } from './approvals.ts';
import type { EventDraft } from './event.ts';
import { Session, type SessionPorts } from './session.ts';

/** A Session and what lives as long as it does. */
export interface LiveSession {
  session: Session;
  approvals: Approvals;
  watchers: number;
}

export class Sessions {
  readonly #ports: SessionPorts;
  readonly #permissionTimeoutMs: number;
  readonly #live = new Map<string, Promise<LiveSession>>();

  constructor(ports: SessionPorts, permissionTimeoutMs: number) {
    this.#ports = ports;
    this.#permissionTimeoutMs = permissionTimeoutMs;
  }

  create(draft: EventDraft<'session_created'>): Promise<LiveSession> {
    return this.#keep(draft.sessionId, Session.create(this.#ports, draft));
  }

  /** The live Session of this id, opened from its Log where it is not live yet. @throws CoreError `unknown_session`. */
  open(id: string): Promise<LiveSession> {
    return this.#live.get(id) ?? this.#keep(id, Session.open(this.#ports, id));
  }

  /** Forgets the Session if nothing needs it in memory. */
  release(live: LiveSession): void {
    if (live.watchers === 0 && live.session.phase.kind === 'idle') this.#live.delete(live.session.id);
  }

  /** Every Session that is live now, those still opening included. */
  all(): Promise<LiveSession[]> {
    return Promise.all(this.#live.values());
  }

  #keep(id: string, opening: Promise<Session>): Promise<LiveSession> {
    const live = opening.then((session) => ({
      session,
      approvals: new Approvals(session, this.#ports.clock, this.#permissionTimeoutMs),
      watchers: 0,
    }));
    this.#live.set(id, live);
    live.catch(() => this.#live.delete(id));
    return live;
  }
}
