/** The rules of a Session, as its people see and end them. Part of the one door in, beside conversation.ts. */
import type { Principal } from './principal.ts';
import { holdSession, settleFault } from './reach.ts';
import { rulesInForce } from './rule.ts';
import type { Runtime } from './runtime.ts';
import type { PermissionRule } from './session-state.ts';

/** Those in force, oldest first. @throws CoreError `forbidden`, `unknown_session`, `invalid_params`. */
export async function listRules(runtime: Runtime, principal: Principal, sessionId: string): Promise<PermissionRule[]> {
  using hold = await holdSession(runtime, principal, sessionId, 'observe');
  return rulesInForce(hold.session.state);
}

/**
 * Ends a rule: what it covered is asked again. One that has been revoked already stays so.
 *
 * @throws CoreError `invalid_params` (no such rule), `forbidden`, `unknown_session`, `log_write_failed`.
 */
export async function revokeRule(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
  ruleId: string,
): Promise<void> {
  using hold = await holdSession(runtime, principal, sessionId, 'approve');
  await settleFault(hold.session);
  await hold.approvals.revoke(ruleId, principal.name);
}
