/**
 * Conversation: the one door in. Every effect on a Session goes through these functions, whoever asks for it, and here
 * it is decided whether they may. They keep no state of their own, and nothing here knows who is connected: what
 * clients learn leaves through a Feed.
 */
import type { Decision } from './approvals.ts';
import { type LoadedBlobs, NO_BLOBS } from './blobs.ts';
import type { Listener } from './bus.ts';
import type { TurnEnding } from './closing.ts';
import { findModel, type TurnExtras, type TurnOverrides, takeTurn, turnContext } from './driver.ts';
import { CoreError } from './errors.ts';
import type { ContentBlock, EventData, EventDraft, Mode, PermissionMode, ReasoningEffort } from './event.ts';
import { strictest } from './permission.ts';
import { assertThere, TurnAbort, type TurnEnd } from './phase.ts';
import { assertMay, may, type Principal } from './principal.ts';
import { holdSession, holdSettled, settleFault } from './reach.ts';
import type { Runtime } from './runtime.ts';
import type { Session } from './session.ts';
import { contentHash } from './session-state.ts';
import type { ServerStatus, ToolServer } from './session-tools.ts';
import { activation, invokedSkills, type Skill } from './skills.ts';
import { runTurn } from './turn.ts';

/** A look at the Session of this id as it is now. @throws CoreError `forbidden`, `unknown_session`, `invalid_params`. */
export async function resume(runtime: Runtime, principal: Principal, sessionId: string): Promise<Session> {
  using hold = await holdSession(runtime, principal, sessionId, 'observe');
  return hold.session;
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

export interface Prompt extends TurnExtras {
  sessionId: string;
  /** Chosen by the caller, so that it can recognise its own prompt in the Log. */
  turnId: string;
  messageId: string;
  content: ContentBlock[];
  /** What the content refers to. */
  blobs?: LoadedBlobs;
  /** Makes the prompt idempotent: the same key never runs twice. */
  promptKey?: string | undefined;
  /** For this Turn only. */
  model?: string | undefined;
  effort?: ReasoningEffort | undefined;
  permissionMode?: PermissionMode | undefined;
  dryRun?: boolean;
  /** From this Turn on, recorded with its start. */
  mode?: Mode | undefined;
  /** The command `/name` that the content begins with; the model is shown the rest. */
  command?: string | undefined;
  /** Answers the prompt instead of a model. */
  reply?: string | undefined;
  /** Has the conversation compacted instead; what the summary must keep. */
  compact?: string | undefined;
}

/**
 * Admits a prompt and starts its Turn; does not wait for the answer. The prompt and its key are committed when this
 * resolves. `done` settles when the Turn has ended and rejects only when its end could not be recorded.
 *
 * @throws CoreError `turn_in_progress`, `unsupported_value` (model), `invalid_params` (a key with other content),
 *   `forbidden`, `unknown_session`, `limit_exceeded`, `log_write_failed`.
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
  const hasRoom = await runtime.hasRoom();
  await settleOpening(session);
  const known = knownPrompt(session, prompt);
  if (known) return known;
  assertThere(session);
  if (session.phase.kind === 'running') {
    throw new CoreError('turn_in_progress', 'a Turn is already running', { turnId: session.phase.turn.turnId });
  }
  runtime.usage.assertTurn(session.state.owner, hasRoom);
  const overrides = overridesOf(prompt);
  const launch = takeTurn(runtime, session, prompt.turnId);
  launch.turn.opening = open(runtime, session, prompt, () =>
    openingEvents(session.state, prompt, overrides, principal.name),
  );
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
  launch.run(hold, async () => runTurn(await turnContext(runtime, hold, launch.turn, overrides, prompt)));
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

/**
 * Stores what the prompt refers to, and records it behind the skills that it names: not before it was admitted, for of
 * what is refused nothing is stored.
 */
async function open(runtime: Runtime, session: Session, prompt: Prompt, events: () => EventDraft[]) {
  const { blobs = NO_BLOBS, turnId } = prompt;
  let skills: Skill[];
  try {
    skills = await invokedSkills(runtime.findSkills, session.state.workspace, prompt);
    for (const bytes of blobs.values()) await runtime.blobs.put(session.id, bytes);
  } catch (error) {
    // The Log was not asked for anything, so there is no fault to recover from.
    if (session.phase.kind === 'running') session.phase = { kind: 'idle' };
    throw error;
  }
  const activations = skills.map((skill) => activation(session.id, turnId, skill, 'user'));
  await session.record(events().toSpliced(-1, 0, ...activations));
}

/** In one commit, so that a prompt which is sent again changes the mode no second time. */
function openingEvents(state: Session['state'], prompt: Prompt, overrides: TurnOverrides, by: string): EventDraft[] {
  const { sessionId, turnId, messageId, promptKey, content, mode, command, reply, compact } = prompt;
  const key = promptKey ? { promptKey } : {};
  const own = Object.keys(overrides).length > 0 ? { overrides } : {};
  const changes = mode !== undefined && mode !== state.mode;
  const instead = { ...(reply === undefined ? {} : { reply }), ...(compact === undefined ? {} : { compact }) };
  const started = { turnId, ...key, ...own, ...instead };
  const asked = { turnId, messageId, content, ...key, ...(command === undefined ? {} : { command }), by };
  return [
    ...(changes ? [{ sessionId, type: 'session_configured' as const, data: { mode, by } }] : []),
    { sessionId, type: 'turn_started', data: started },
    { sessionId, type: 'user_message', data: asked },
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
  turn.abort.abort(new TurnAbort({ outcome: 'cancelled', by: principal.name }));
  return turn.done;
}

/**
 * Decides a permission, and by the rule that was offered the like from then on where it is to be remembered. Returns
 * false, changing nothing, when it is settled or unknown.
 */
export async function answer(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
  { permissionId, decision, ...how }: { permissionId: string; decision: Decision; reason?: string; remember?: boolean },
): Promise<boolean> {
  using hold = await holdSession(runtime, principal, sessionId, 'approve');
  return await hold.approvals.decide(permissionId, decision, principal.name, how);
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
  change: Omit<EventData['session_configured'], 'by' | 'additionalDirectories'>,
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

/**
 * Gives the Session the tools of these servers in place of those that it has. One that fails is reported and nothing
 * else; to who cannot prompt all of them fail, and the Session keeps what it has.
 *
 * @throws CoreError `unknown_session`.
 */
export async function equip(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
  servers: readonly ToolServer[],
): Promise<ServerStatus[]> {
  const message = 'the credential lacks the scope prompt';
  if (!may(principal, 'prompt')) return servers.map(({ name }) => ({ name, ok: false, message }));
  using hold = await holdSession(runtime, principal, sessionId, 'prompt');
  return await runtime.toolboxes.equip(sessionId, hold.session.state.workspace, servers);
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
