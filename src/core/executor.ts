/**
 * The Executor: every call that a model asks for passes through here. It records the call, gets the permission, runs
 * the tool and records the result; nothing runs that was not recorded, and nothing runs twice.
 */
import type { Decision } from './approvals.ts';
import { CoreError, toCoreError } from './errors.ts';
import type { EventData, EventDraft, Json, RuleOffer } from './event.ts';
import { effectivePermission, hashCall, judge, type Verdict } from './permission.ts';
import { mayBeOffered, ruleOffer } from './rule.ts';
import type { PendingPermission } from './session-state.ts';
import { activation } from './skills.ts';
import type { Tool, ToolContext, ToolResult } from './tool.ts';
import type { TurnContext } from './turn.ts';

type ToolArgs = Record<string, unknown>;

/** A call as the model asked for it. */
export interface RequestedCall {
  callId: string;
  name: string;
  args: Json;
}

/**
 * Runs one call to its recorded result.
 *
 * @param before Events that are committed together with the call.
 * @throws what stops the Turn: its abort, or a Log that refuses to write.
 */
export async function execute(
  turn: TurnContext,
  requested: RequestedCall,
  before: readonly EventDraft[],
): Promise<void> {
  const call = { ...requested, callId: await unusedCallId(turn, requested.callId) };
  const tool = turn.tools.get(call.name);
  const parsed = tool?.schema.safeParse(call.args);
  if (!tool || !parsed?.success) {
    const failure = recordFailure(turn, call.callId, refusal(call, tool, parsed));
    await turn.session.record([...before, recordCall(turn, call, tool), failure]);
    return;
  }
  const args: ToolArgs = parsed.data;
  const { mode, permissionCeiling, permissionMode } = turn.session.state;
  const permission = effectivePermission(mode, permissionCeiling, permissionMode, turn.permissionMode);
  const verdict = judge(permission, tool.effect(args));
  const offer = verdict === 'ask' ? ruleOffer(tool, call.args, args) : undefined;
  const rule = offer && turn.approvals.ruleFor(tool.name, offer);
  const decided: EventDraft[] = [];
  if (rule) decided.push(recordDecision(turn, call.callId, rule.decision, `rule:${rule.ruleId}`));
  else if (permission !== 'auto' && verdict !== 'ask') decided.push(recordDecision(turn, call.callId, verdict, 'mode'));
  await turn.session.record([...before, recordCall(turn, call, tool, args), ...decided]);
  const allowed = rule ? rule.decision === 'allow' : await permitted(turn, call, verdict, offer);
  await runPermitted(turn, call, tool, args, allowed ? 'allow' : verdict);
}

/**
 * Goes on with a call that waited for a permission when the server stopped. Nothing of it has run, and it runs only with
 * the arguments that were asked about.
 */
export async function resumeCall(turn: TurnContext, asked: PendingPermission, decision: Decision): Promise<void> {
  const { callId, name, args } = asked.call;
  const call = { callId, name, args };
  const tool = turn.tools.get(name);
  const parsed = tool?.schema.safeParse(args);
  if (!tool || !parsed?.success) {
    await turn.session.record([recordFailure(turn, callId, refusal(call, tool, parsed))]);
    return;
  }
  const allowed = decision === 'allow' && asked.argsHash === hashCall(name, args);
  await runPermitted(turn, call, tool, parsed.data, allowed ? 'allow' : 'ask');
}

/** @param verdict `allow`, or what kept the call from running. */
async function runPermitted(
  turn: TurnContext,
  call: RequestedCall,
  tool: Tool,
  args: ToolArgs,
  verdict: Verdict,
): Promise<void> {
  if (verdict !== 'allow') {
    const message = verdict === 'deny' ? 'denied: this Session is read-only' : 'denied: the user did not allow it';
    const error = new CoreError('permission_denied', message, { tool: call.name });
    await turn.session.record([recordFailure(turn, call.callId, error)]);
    return;
  }
  turn.signal.throwIfAborted();
  await turn.session.record(await runTool(turn, call, tool, args));
}

/** Asks where the verdict says so. What was approved is what runs: the arguments are hashed again afterwards. */
async function permitted(
  turn: TurnContext,
  call: RequestedCall,
  verdict: Verdict,
  offer: RuleOffer | undefined,
): Promise<boolean> {
  if (verdict !== 'ask') return verdict === 'allow';
  const argsHash = hashCall(call.name, call.args);
  const rule = offer && mayBeOffered(turn.session.state, call.args) ? { rule: offer } : {};
  const asked = { turnId: turn.turnId, callId: call.callId, argsHash, ...rule };
  const decision = await turn.approvals.ask(asked, turn.signal);
  return decision === 'allow' && hashCall(call.name, call.args) === argsHash;
}

async function runTool(turn: TurnContext, call: RequestedCall, tool: Tool, args: ToolArgs): Promise<EventDraft[]> {
  const context: ToolContext = {
    callId: call.callId,
    ...turn.roots,
    signal: turn.signal,
    progress: (output) => turn.session.showOutput(call.callId, output),
    client: turn.client,
  };
  const startedAt = turn.clock.now();
  // The clock of the system may be set back meanwhile.
  const took = () => ({ durationMs: Math.max(0, turn.clock.now() - startedAt) });
  try {
    const result = turn.dryRun ? await tool.dryRun(args, context) : await tool.run(args, context);
    return recordResult(turn, call.callId, result, took());
  } catch (error) {
    turn.signal.throwIfAborted();
    const failure = toCoreError(error);
    if (failure.code === 'internal') turn.onError(failure.cause ?? failure);
    return [recordFailure(turn, call.callId, failure, took())];
  }
}

function refusal(
  call: RequestedCall,
  tool: Tool | undefined,
  parsed: ReturnType<Tool['schema']['safeParse']> | undefined,
) {
  if (!tool) return new CoreError('unknown_tool', 'there is no such tool', { tool: call.name });
  const issues = parsed?.error?.issues.map((issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`) ?? [];
  return new CoreError('invalid_args', `the arguments do not fit ${call.name}`, { issues: issues.slice(0, 8) });
}

/** Compatible servers repeat ids ("call_0"); in a Session an id names one call. */
async function unusedCallId({ session, signal }: TurnContext, callId: string): Promise<string> {
  const { callIds } = await session.history(signal);
  for (let n = 2, candidate = callId; ; n++) {
    if (!callIds.has(candidate)) return candidate;
    candidate = `${callId}-${n}`;
  }
}

function recordCall(turn: TurnContext, call: RequestedCall, tool: Tool | undefined, args?: ToolArgs): EventDraft {
  const locations = args === undefined ? undefined : tool?.locations?.(args, turn.roots);
  const data = {
    turnId: turn.turnId,
    ...call,
    title: args === undefined || !tool ? call.name : tool.title(args),
    kind: tool?.kind ?? ('other' as const),
    ...(locations?.length ? { locations } : {}),
  };
  return { sessionId: turn.session.id, type: 'tool_call', data };
}

function recordDecision(turn: TurnContext, callId: string, decision: Decision, by: string): EventDraft {
  const data = { turnId: turn.turnId, callId, decision, by };
  return { sessionId: turn.session.id, type: 'permission_decision', data };
}

/** How long the tool ran, where it did. */
type Took = Pick<EventData['tool_result'], 'durationMs'>;

function recordResult(turn: TurnContext, callId: string, result: ToolResult, took: Took): EventDraft[] {
  const { ok, output, diffs, plan, skill, exitCode } = result;
  const { turnId, dryRun } = turn;
  const ended = exitCode === undefined ? {} : { exitCode };
  const extra = { ...(diffs?.length ? { diffs } : {}), ...(dryRun ? { dryRun } : {}), ...took, ...ended };
  const sessionId = turn.session.id;
  const events: EventDraft[] = [{ sessionId, type: 'tool_result', data: { turnId, callId, ok, output, ...extra } }];
  if (plan && !dryRun) events.push({ sessionId, type: 'plan', data: { turnId, entries: plan } });
  if (skill && !dryRun) events.push(activation(sessionId, turnId, skill, 'model'));
  return events;
}

function recordFailure(
  turn: TurnContext,
  callId: string,
  { code, message, details }: CoreError,
  took: Took = {},
): EventDraft {
  const error = { kind: code, message, details: details as Record<string, Json> };
  const output = JSON.stringify({ ok: false, error });
  const dryRun = turn.dryRun ? { dryRun: true } : {};
  const data = { turnId: turn.turnId, callId, ok: false, output, error, ...dryRun, ...took };
  return { sessionId: turn.session.id, type: 'tool_result', data };
}
