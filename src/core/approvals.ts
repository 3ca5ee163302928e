/**
 * The permissions of one Session that wait for a decision. They belong to the Session, not to a connection: the first
 * valid decision wins, whoever makes it, and the deadline runs with nobody attached. Nothing is ever assumed.
 */
import type { Clock } from './clock.ts';
import { newId } from './event.ts';
import type { TurnAbort } from './phase.ts';
import type { Session } from './session.ts';
import type { PendingPermission } from './session-state.ts';

export type Decision = 'allow' | 'deny';

interface Waiting {
  settle(decision: Decision): void;
  cancelDeadline(): void;
}

export class Approvals {
  readonly #session: Session;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #waiting = new Map<string, Waiting>();
  /** Decisions on their way to the Log: the first one in has won, though it is not committed yet. */
  readonly #deciding = new Set<string>();

  constructor(session: Session, clock: Clock, timeoutMs: number) {
    this.#session = session;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Asks for a permission and waits, however long, until somebody decides, the deadline passes, or `signal` aborts.
   *
   * @param argsHash binds the decision to the exact call.
   * @throws the signal's reason; the Turn's closing then records the denial.
   */
  async ask(turnId: string, callId: string, argsHash: string, signal: AbortSignal): Promise<Decision> {
    const permissionId = newId('perm');
    const expiresAt = new Date(this.#clock.now() + this.#timeoutMs).toISOString();
    const data = { turnId, permissionId, callId, argsHash, expiresAt };
    return this.#wait(permissionId, this.#timeoutMs, signal, () =>
      this.#session.record([{ sessionId: this.#session.id, type: 'permission_requested', data }]),
    );
  }

  /** Waits on for a permission that was asked before a restart. Its deadline has gone on meanwhile. */
  async askAgain({ permissionId, expiresAt }: PendingPermission, signal: AbortSignal): Promise<Decision> {
    const left = Math.max(0, expiresAt - this.#clock.now());
    const decision = this.#wait(permissionId, left, signal, async () => undefined);
    // The Turn looks at it when it gets there; until then an abort is nobody's accident.
    decision.catch(() => undefined);
    return decision;
  }

  async #wait(
    permissionId: string,
    timeoutMs: number,
    signal: AbortSignal,
    begin: () => Promise<unknown>,
  ): Promise<Decision> {
    const { promise, resolve, reject } = Promise.withResolvers<Decision>();
    // An abort while the request is still being recorded is thrown below; this copy of it is not an accident.
    promise.catch(() => undefined);
    const onAbort = () => reject(signal.reason as TurnAbort);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const expire = () => this.decide(permissionId, 'deny', 'timeout').catch(reject);
      this.#waiting.set(permissionId, { settle: resolve, cancelDeadline: this.#clock.after(timeoutMs, expire) });
      await begin();
      signal.throwIfAborted();
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#waiting.get(permissionId)?.cancelDeadline();
      this.#waiting.delete(permissionId);
    }
  }

  /**
   * Settles a permission. Returns false, and changes nothing, when it is unknown or already settled.
   *
   * @param by the principal who decided, or `timeout`.
   */
  async decide(permissionId: string, decision: Decision, by: string, reason?: string): Promise<boolean> {
    const pending = this.#session.state.permissions.get(permissionId);
    const turn = this.#session.state.turn;
    if (!pending || !turn || this.#deciding.has(permissionId)) return false;
    this.#deciding.add(permissionId);
    try {
      const why = reason === undefined ? {} : { reason };
      const data = { turnId: turn.turnId, permissionId, callId: pending.call.callId, decision, by, ...why };
      await this.#session.record([{ sessionId: this.#session.id, type: 'permission_decision', data }]);
    } finally {
      this.#deciding.delete(permissionId);
    }
    this.#waiting.get(permissionId)?.settle(decision);
    return true;
  }
}
