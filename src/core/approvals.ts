/**
 * The permissions of one Session that wait for a decision. They belong to the Session, not to a connection: the first
 * valid decision wins, whoever makes it, and the deadline runs with nobody attached. Nothing is ever assumed; what decides
 * without asking is a rule that somebody chose.
 */
import type { Clock } from './clock.ts';
import { CoreError } from './errors.ts';
import { type EventData, type EventDraft, newId, type RuleOffer } from './event.ts';
import type { TurnAbort } from './phase.ts';
import { rulesInForce } from './rule.ts';
import type { Session } from './session.ts';
import type { PendingPermission, PermissionRule } from './session-state.ts';

export type Decision = 'allow' | 'deny';

export class Approvals {
  readonly #session: Session;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #waiting = new Map<string, (decision: Decision) => void>();
  /** Decisions on their way to the Log: the first one in has won, though it is not committed yet. */
  readonly #deciding = new Map<string, Promise<unknown>>();
  /** Rules whose end is on its way to the Log. */
  readonly #revoking = new Map<string, Promise<unknown>>();

  constructor(session: Session, clock: Clock, timeoutMs: number) {
    this.#session = session;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Asks for a permission and waits, however long, until somebody decides, the deadline passes, or `signal` aborts.
   *
   * @param call its `argsHash` binds the decision to exactly this one; `rule` is what it covers if it is remembered.
   * @throws the signal's reason; the Turn's closing then records the denial.
   */
  async ask(
    call: Omit<EventData['permission_requested'], 'permissionId' | 'expiresAt'>,
    signal: AbortSignal,
  ): Promise<Decision> {
    const permissionId = newId('perm');
    const expiresAt = new Date(this.#clock.now() + this.#timeoutMs).toISOString();
    const data = { ...call, permissionId, expiresAt };
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
   * @param how `remember`: the rule that was offered is made of it, in the same commit.
   */
  async decide(
    permissionId: string,
    decision: Decision,
    by: string,
    { reason, remember = false }: { reason?: string; remember?: boolean } = {},
  ): Promise<boolean> {
    const pending = this.#session.state.permissions.get(permissionId);
    const turn = this.#session.state.turn;
    const settle = this.#waiting.get(permissionId);
    if (!pending || !turn || !settle || this.#deciding.has(permissionId)) return false;
    const why = reason === undefined ? {} : { reason };
    const data = { turnId: turn.turnId, permissionId, callId: pending.call.callId, decision, by, ...why };
    const events: EventDraft[] = [{ sessionId: this.#session.id, type: 'permission_decision', data }];
    if (remember && pending.rule) {
      const rule = { ruleId: newId('rule'), decision, tool: pending.call.name, ...pending.rule, by };
      events.push({ sessionId: this.#session.id, type: 'permission_rule', data: rule });
    }
    const recorded = this.#session.record(events);
    this.#deciding.set(permissionId, recorded);
    try {
      await recorded;
    } finally {
      this.#deciding.delete(permissionId);
    }
    settle(decision);
    return true;
  }

  /** The rule that decides what the offer covers, if somebody has made one. */
  ruleFor(tool: string, { keyHash }: RuleOffer): PermissionRule | undefined {
    const fits = (rule: PermissionRule) => rule.tool === tool && rule.keyHash === keyHash;
    return rulesInForce(this.#session.state).find((rule) => fits(rule) && !this.#revoking.has(rule.ruleId));
  }

  /**
   * From the moment of the call the rule decides nothing more; one that is revoked already stays so.
   *
   * @throws CoreError `invalid_params`: there never was one of this id.
   */
  async revoke(ruleId: string, by: string): Promise<void> {
    const rule = this.#session.state.rules.get(ruleId);
    if (rule === undefined) throw new CoreError('invalid_params', 'unknown rule', { field: 'ruleId' });
    if (rule === null) return;
    const data = { ruleId, by };
    const revoking =
      this.#revoking.get(ruleId) ??
      this.#session.record([{ sessionId: this.#session.id, type: 'permission_rule_revoked', data }]);
    this.#revoking.set(ruleId, revoking);
    try {
      await revoking;
    } finally {
      this.#revoking.delete(ruleId);
    }
  }
}
