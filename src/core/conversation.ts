/**
 * Conversation: the one door in. Every effect on a Session goes through these functions, whoever asks for it, and here
 * it is decided whether they may. They keep no state of their own, and nothing here knows who is connected: what
 * clients learn leaves through a Feed.
 */
import type { Decision } from './approvals.ts';
import type { Listener } from './bus.ts';
import type { TurnEnding } from './closing.ts';
import { findModel, settleStranded, type TurnOverrides, takeTurn, turnContext } from './driver.ts';
import { CoreError } from './errors.ts';
import type { ContentBlock, EventData, Json, Mode, PermissionMode, ReasoningEffort } from './event.ts';
import { strictest } from './permission.ts';
import { TurnAbort, type TurnEnd } from './phase.ts';
import { assertMay, mayWorkIn, type Principal, reaches, type Scope } from './principal.ts';
import type { Runtime } from './runtime.ts';
import type { Session } from './session.ts';
import { assertSessionId, newSessionId } from './session-id.ts';
import { contentHash } from './session-state.ts';
import type { Hold } from './sessions.ts';
import { runTurn } from './turn.ts';

export interface NewSession {
  /** Absolute path of the directory to work in. */
  workspace: string;
  mode?: Mode;
}

/** A new Session of the principal's owner. @throws CoreError `forbidden`; `invalid_params` when the directory is refused. */
export async function start(
  runtime: Runtime,
  principal: Principal,
  { workspace, mode = 'build' }: NewSession,
): Promise<Session> {
  assertMay(principal, 'prompt');
  const sessionId = newSessionId(runtime.clock.now());
  const { permissionCeiling } = runtime.settings;
  const { owner } = principal;
  const data = { workspace: await workspaceFor(runtime, principal, workspace), mode, permissionCeiling, owner };
  using hold = await runtime.sessions.create({ sessionId, type: 'session_created', data });
  return hold.session;
}

/**
 * The real path of a directory in which the principal may work.
 *
 * @throws CoreError `invalid_params`, without saying what is there outside the principal's own directories.
 */
export async function workspaceFor(runtime: Runtime, principal: Principal, path: string): Promise<string> {
  const outside = () =>
    new CoreError('invalid_params', 'cwd is outside the directories that the credential allows', { field: 'cwd' });
  const real = await runtime.resolveWorkspace(path).catch((error: unknown) => {
    throw mayWorkIn(principal, path) ? error : outside();
  });
  if (!mayWorkIn(principal, real)) throw outside();
  return real;
}

/** A look at the Session of this id as it is now. @throws CoreError `forbidden`, `unknown_session`, `invalid_params`. */
export async function resume(runtime: Runtime, principal: Principal, sessionId: string): Promise<Session> {
  using hold = await holdSession(runtime, principal, sessionId, 'observe');
  return hold.session;
}

/**
 * The one place where it is decided whether a principal may do something to a Session. One that is not the principal's
 * is answered like one that does not exist, after the same work: a look at the list of Sessions and nothing more.
 *
 * @throws CoreError `forbidden`, `invalid_params`, `unknown_session`.
 */
async function holdSession(runtime: Runtime, principal: Principal, sessionId: string, scope: Scope): Promise<Hold> {
  assertMay(principal, scope);
  assertSessionId(sessionId);
  const row = await runtime.log.session(sessionId);
  if (!row || !reaches(principal, row)) throw new CoreError('unknown_session', 'unknown session', { sessionId });
  return await holdSettled(runtime, sessionId);
}

/** Holds the Session with everything settled that a crash or a full disk left behind. */
async function holdSettled(runtime: Runtime, sessionId: string): Promise<Hold> {
  using stack = new DisposableStack();
  const hold = stack.use(await runtime.sessions.hold(sessionId));
  await settleStranded(runtime, hold);
  stack.move();
  return hold;
}

/** A view of one Session for somebody who watches it. */
export interface Watch {
  session: Session;
  stop(): void;
}

/** Registers for wake-ups and live deltas; nothing is missed between the return and the first read. */
export async function attach(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
  listener: Listener,
): Promise<Watch> {
  const hold = await holdSession(runtime, principal, sessionId, 'observe');
  const unsubscribe = runtime.bus.subscribe(sessionId, listener);
  const stop = () => {
    unsubscribe();
    hold[Symbol.dispose]();
  };
  return { session: hold.session, stop };
}

export interface Prompt {
  sessionId: string;
  /** Chosen by the caller, so that it can recognise its own prompt in the Log. */
  turnId: string;
  messageId: string;
  content: ContentBlock[];
  /** Makes the prompt idempotent: the same key never runs twice. */
  promptKey?: string | undefined;
  /** For this Turn only. */
  model?: string | undefined;
  effort?: ReasoningEffort | undefined;
  permissionMode?: PermissionMode | undefined;
  presenterContext?: Json | undefined;
  dryRun?: boolean;
}

/**
 * Admits a prompt and starts its Turn; does not wait for the answer. The prompt and its key are committed when this
 * resolves. `done` settles when the Turn has ended and rejects only when its end could not be recorded.
 *
 * @throws CoreError `turn_in_progress`, `unsupported_value` (model), `invalid_params` (a key with other content),
 *   `forbidden`, `unknown_session`, `log_write_failed`.
 */
export async function send(
  runtime: Runtime,
  principal: Principal,
  prompt: Prompt,
): Promise<{ turnId: string; done: Promise<TurnEnd> }> {
  findModel(runtime, prompt.model);
  using stack = new DisposableStack();
  const hold = stack.use(await holdSession(runtime, principal, prompt.sessionId, 'prompt'));
  const { session } = hold;
  await settleOpening(session);
  const known = knownPrompt(session, prompt);
  if (known) return known;
  if (session.phase.kind === 'running') {
    throw new CoreError('turn_in_progress', 'a Turn is already running', { turnId: session.phase.turn.turnId });
  }
  const overrides = overridesOf(prompt);
  const launch = takeTurn(runtime, session, prompt.turnId);
  launch.turn.opening = session.record(openingEvents(prompt, overrides, principal.name));
  try {
    await launch.turn.opening;
  } catch (error) {
    launch.fail(error);
    throw error;
  } finally {
    launch.turn.opening = undefined;
  }
  // From here on the Turn keeps the Session alive, whoever else lets go of it.
  stack.move();
  launch.run(hold, () => runTurn(turnContext(runtime, hold, launch.turn, overrides, prompt.presenterContext)));
  return { turnId: prompt.turnId, done: launch.turn.done };
}

function overridesOf({ model, effort, permissionMode, dryRun }: Prompt): TurnOverrides {
  return {
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
    ...(permissionMode === undefined ? {} : { permissionMode }),
    ...(dryRun ? { dryRun } : {}),
  };
}

/** A key that was used before: the Turn that runs for it, or the way it ended. */
function knownPrompt(session: Session, { promptKey, content }: Prompt) {
  const known = promptKey ? session.state.prompts.get(promptKey) : undefined;
  if (!known) return undefined;
  if (known.contentHash !== contentHash(content)) {
    throw new CoreError('invalid_params', 'this promptKey was used for another prompt', {
      reason: 'prompt_key_conflict',
    });
  }
  const { turnId, end } = known;
  if (end) return { turnId, done: Promise.resolve({ turnId, ...end }) };
  if (session.phase.kind === 'running') return { turnId, done: session.phase.turn.done };
  return undefined;
}

/** A prompt that is sent again while it is being recorded must find itself in the record, not a Turn in its way. */
async function settleOpening(session: Session): Promise<void> {
  for (;;) {
    await settleFault(session);
    if (session.phase.kind !== 'running' || !session.phase.turn.opening) return;
    await session.phase.turn.opening.catch(() => undefined);
  }
}

/** A Session that could not write reads its Log again before it takes anything new. */
async function settleFault(session: Session): Promise<void> {
  if (session.phase.kind !== 'faulted') return;
  await session.phase.turn?.done.catch(() => undefined);
  await session.recover();
}

function openingEvents(prompt: Prompt, overrides: TurnOverrides, by: string) {
  const { sessionId, turnId, messageId, promptKey, content } = prompt;
  const key = promptKey ? { promptKey } : {};
  const own = Object.keys(overrides).length > 0 ? { overrides } : {};
  return [
    { sessionId, type: 'turn_started' as const, data: { turnId, ...key, ...own } },
    { sessionId, type: 'user_message' as const, data: { turnId, messageId, content, ...key, by } },
  ];
}

/** Stops the running Turn. Resolves with its end, or undefined when none ran; calling it again changes nothing. */
export async function interrupt(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
): Promise<TurnEnd | undefined> {
  using hold = await holdSession(runtime, principal, sessionId, 'prompt');
  const { session } = hold;
  if (session.phase.kind !== 'running') return undefined;
  const { turn } = session.phase;
  turn.abort.abort(new TurnAbort({ outcome: 'cancelled' }));
  return turn.done;
}

/** Decides a permission. Returns false, changing nothing, when it is settled or unknown. */
export async function answer(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
  { permissionId, decision, reason }: { permissionId: string; decision: Decision; reason?: string },
): Promise<boolean> {
  using hold = await holdSession(runtime, principal, sessionId, 'approve');
  return await hold.approvals.decide(permissionId, decision, principal.name, reason);
}

/**
 * Changes mode, model, effort or permission mode, durably. The permission mode cannot become looser than the ceiling.
 *
 * @throws CoreError `unsupported_value`, `forbidden`, `unknown_session`.
 */
export async function configure(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
  change: Omit<EventData['session_configured'], 'by'>,
): Promise<Session> {
  using hold = await holdSession(runtime, principal, sessionId, 'prompt');
  const { session } = hold;
  await settleFault(session);
  if (change.model !== undefined) findModel(runtime, change.model);
  const { permissionCeiling, permissionMode } = session.state;
  const wanted = change.permissionMode;
  if (wanted && strictest(permissionCeiling, wanted) !== wanted) {
    throw new CoreError('unsupported_value', `permission mode is limited to ${permissionCeiling}`);
  }
  // To be asked less is to approve what would have been asked.
  if (wanted && strictest(permissionMode, wanted) !== wanted) assertMay(principal, 'approve');
  await session.record([{ sessionId, type: 'session_configured', data: { ...change, by: principal.name } }]);
  return session;
}

/** Waits for the Turn that runs now; undefined when none does. */
export async function awaitTurn(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
): Promise<TurnEnd | undefined> {
  const { phase } = await resume(runtime, principal, sessionId);
  return phase.kind === 'running' ? phase.turn.done : undefined;
}

/** Continues or closes every Turn that was left open. Called once at the start, before anything else is admitted. */
export async function recover(runtime: Runtime): Promise<void> {
  for (const { sessionId } of await runtime.log.sessions({ openTurn: true })) {
    using _hold = await holdSettled(runtime, sessionId);
  }
}

/**
 * Stops every running Turn, for an orderly end of the process, and waits until what is left of each is recorded.
 *
 * @param how `interrupt`: they end; `suspend`: they stay open and the next process continues them.
 */
export async function stopAll(runtime: Runtime, how: 'interrupt' | 'suspend'): Promise<void> {
  const running = (await runtime.sessions.all()).flatMap(({ phase }) => (phase.kind === 'running' ? [phase.turn] : []));
  for (const { abort } of running) abort.abort(new TurnAbort(how === 'suspend' ? how : STOPPED));
  await Promise.allSettled(running.map(({ done }) => done));
}

const STOPPED: TurnEnding = {
  outcome: 'interrupted',
  error: { kind: 'interrupted', message: 'The server was stopped while this Turn ran.' },
};
