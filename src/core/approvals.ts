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

export class Approvals {
  readonly #session: Session;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #waiting = new Map<string, (decision: Decision) => void>();
  /** Decisions on their way to the Log: the first one in has won, though it is not committed yet. */
  readonly #deciding = new Map<string, Promise<unknown>>();

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
  askAgain({ permissionId, expiresAt }: PendingPermission, signal: AbortSignal): Promise<Decision> {
    const left = Math.max(0, expiresAt - this.#clock.now());
    const decision = this.#wait(permissionId, left, signal, async () => undefined);
    // The Turn looks at it when it gets there, if it does; until then an abort is nobody's accident.
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
    const onAbort = async () => {
      // From here on the Turn's closing decides, unless a decision is on its way to the Log: that one was first.
      this.#waiting.delete(permissionId);
      await this.#deciding.get(permissionId)?.catch(() => undefined);
      reject(signal.reason as TurnAbort);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const expire = () => this.decide(permissionId, 'deny', 'timeout').catch(reject);
    const cancelDeadline = this.#clock.after(timeoutMs, expire);
    this.#waiting.set(permissionId, resolve);
    try {
      await begin();
      signal.throwIfAborted();
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      cancelDeadline();
      this.#waiting.delete(permissionId);
    }
  }

  /**
   * Settles a permission. Returns false, and changes nothing, when it is unknown or settled, or its Turn is ending.
   *
   * @param by the principal who decided, or `timeout`.
   */
  async decide(permissionId: string, decision: Decision, by: string, reason?: string): Promise<boolean> {
    const pending = this.#session.state.permissions.get(permissionId);
    const turn = this.#session.state.turn;
    const settle = this.#waiting.get(permissionId);
    if (!pending || !turn || !settle || this.#deciding.has(permissionId)) return false;
    const why = reason === undefined ? {} : { reason };
    const data = { turnId: turn.turnId, permissionId, callId: pending.call.callId, decision, by, ...why };
    const recorded = this.#session.record([{ sessionId: this.#session.id, type: 'permission_decision', data }]);
    this.#deciding.set(permissionId, recorded);
    try {
      await recorded;
    } finally {
      this.#deciding.delete(permissionId);
    }
    settle(decision);
    return true;
  }
}
