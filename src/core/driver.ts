/**
 * The driver: runs a Turn beside whoever asked for it and closes it exactly once, whatever happens to it. Also continues,
 * once, a Turn that a crash cut; it never runs again what may have run.
 */
import type { ClientServices } from './client-services.ts';
import { CUT_OFF, mendingEvents, type TurnEnding } from './closing.ts';
import { CoreError, toCoreError } from './errors.ts';
import type { EventData, Json } from './event.ts';
import { resumeCall } from './executor.ts';
import { type RunningTurn, TurnAbort, type TurnEnd } from './phase.ts';
import { describeTools, type ModelInfo, type Runtime } from './runtime.ts';
import type { Session } from './session.ts';
import type { Hold } from './sessions.ts';
import { skillIndex } from './skills.ts';
import { runTurn, type TurnContext, type TurnResult } from './turn.ts';

/** What holds for one Turn only. Recorded with its start, so that a continued Turn is not looser than it was. */
export type TurnOverrides = NonNullable<EventData['turn_started']['overrides']>;

/** What else a prompt brings for its Turn. Not recorded: a continued Turn has none of it. */
export interface TurnExtras {
  presenterContext?: Json | undefined;
  /** What the client can do for the tools of the Turn. */
  client?: ClientServices | undefined;
}

const TIMED_OUT: TurnEnding = {
  outcome: 'timed_out',
  error: { kind: 'timeout', message: 'The Turn ran out of time and was stopped.' },
};

/** A Turn that has its Session's one place and is not running yet. */
export interface Launch {
  turn: RunningTurn;
  /** Runs `work` to the Turn's end; the hold is given back then. */
  run(hold: Hold, work: () => Promise<TurnResult>): void;
  /** The Turn could not be begun. */
  fail(error: unknown): void;
}

/** Takes the place at once: of two that want it in the same moment, the second finds it taken. */
export function takeTurn(runtime: Runtime, session: Session, turnId: string): Launch {
  const { promise: done, resolve, reject } = Promise.withResolvers<TurnEnd>();
  // Whoever waits for the Turn hears of it; when nobody does, it is not a crash.
  done.catch((error) => {
    if (!(error instanceof CoreError && error.code === 'turn_suspended')) runtime.onError(error);
  });
  // First of all who wait for it: whoever is told of the end finds the place free.
  const leave = runtime.usage.addTurn(session.state.owner);
  done.then(leave, leave);
  const turn: RunningTurn = { turnId, abort: new AbortController(), done };
  session.phase = { kind: 'running', turn };
  return {
    turn,
    fail: reject,
    run: (hold, work) => void drive(runtime, hold, turn, work).then(resolve, reject),
  };
}

async function drive(
  runtime: Runtime,
  hold: Hold,
  turn: RunningTurn,
  work: () => Promise<TurnResult>,
): Promise<TurnEnd> {
  const { session } = hold;
  const { turnTimeoutMs } = runtime.settings;
  const outOfTime = () => turn.abort.abort(new TurnAbort(TIMED_OUT));
  const cancelTimeout = turnTimeoutMs === null ? undefined : runtime.clock.after(turnTimeoutMs, outOfTime);
  try {
    const { ending, last } = await work();
    return await session.finishTurn(ending, last);
  } catch (error) {
    const ending = endingOf(error, turn.abort.signal, runtime.onError);
    if (ending === 'suspend') return await session.suspendTurn();
    return await session.finishTurn(ending).catch(() => session.finishTurn(ending));
  } finally {
    cancelTimeout?.();
    hold[Symbol.dispose]();
  }
}

function endingOf(error: unknown, signal: AbortSignal, onError: (error: unknown) => void): TurnAbort['ending'] {
  if (signal.reason instanceof TurnAbort) return signal.reason.ending;
  const { code, message, details, cause } = toCoreError(error);
  if (code === 'internal') onError(cause ?? error);
  return { outcome: 'failed', error: { kind: code, message, details: details as Record<string, Json> } };
}

/**
 * Takes care of a Turn that nothing runs: what a crash, or an orderly stop, left open. It is continued once by itself;
 * a second time, or where the settings say so, it ends as interrupted.
 */
export async function settleStranded(runtime: Runtime, hold: Hold): Promise<void> {
  const { session } = hold;
  const open = session.state.turn;
  if (session.phase.kind !== 'stranded' || !open) return;
  const launch = takeTurn(runtime, session, open.turnId);
  const goesOn = runtime.settings.recovery === 'resume' && !open.continued;
  // Before the first await: a decision that comes in the next moment must find somebody who waits for it.
  const waiting = [...(goesOn ? session.state.permissions.values() : [])].map((permission) => ({
    permission,
    decision: hold.approvals.askAgain(permission, launch.turn.abort.signal),
  }));
  const own = await runtime.sessions.hold(session.id);
  if (!goesOn) {
    launch.run(own, async () => ({ ending: CUT_OFF, last: [] }));
    await launch.turn.done;
    return;
  }
  launch.run(own, async () => {
    const context = await turnContext(runtime, own, launch.turn, open.overrides, {});
    await session.record(mendingEvents(session.state, session.live));
    // What is still open now waits for a permission: nothing of it has run.
    for (const { permission, decision } of waiting) await resumeCall(context, permission, await decision);
    return runTurn(context, open.iterations);
  });
}

export async function turnContext(
  runtime: Runtime,
  { session, approvals }: Hold,
  { turnId, abort, done }: RunningTurn,
  overrides: TurnOverrides,
  { presenterContext, client }: TurnExtras,
): Promise<TurnContext> {
  const { settings, clock, provider, blobs, toolTable, onError } = runtime;
  const { workspace, additionalDirectories, turn } = session.state;
  const model = findModel(runtime, overrides.model ?? session.state.model);
  const lent = await runtime.toolboxes.lend(session.id, abort.signal, done);
  // The table first: no server can put a tool in the place of one of ours.
  const own = lent.filter(({ name }) => !toolTable.has(name));
  const ours = [...toolTable.values()].filter(({ needs }) => needs === undefined || client?.[needs]);
  const tools = new Map([...ours, ...own].map((tool) => [tool.name, tool]));
  return {
    session,
    approvals,
    turnId,
    roots: { workspace, additionalDirectories: turn?.additionalDirectories ?? additionalDirectories },
    signal: abort.signal,
    clock,
    provider,
    blobs,
    tools,
    toolSpecs: [...runtime.toolSpecs().filter(({ name }) => tools.has(name)), ...describeTools(own)],
    model: model.id,
    contextWindow: model.contextWindow,
    effort: overrides.effort ?? session.state.effort ?? settings.effort,
    permissionMode: overrides.permissionMode,
    presenterContext,
    skillIndex: skillIndex(await runtime.findSkills(workspace)),
    client,
    dryRun: overrides.dryRun ?? false,
    maxIterations: settings.maxIterations,
    autoCompact: settings.autoCompact,
    onError,
  };
}

export function findModel({ settings }: Runtime, id: string | undefined): ModelInfo {
  const model = id === undefined ? settings.models[0] : settings.models.find((candidate) => candidate.id === id);
  if (!model) throw new CoreError('unsupported_value', 'unknown model', { model: id ?? '' });
  return model;
}
