/**
 * The life of Sessions: how they begin, are listed, titled, forked and deleted. Part of the one door in, beside
 * conversation.ts; like there, nothing here knows who is connected.
 */
import { CoreError } from './errors.ts';
import type { Beginning, Event, EventDraft, Mode } from './event.ts';
import type { SessionQuery, SessionRow } from './log.ts';
import { strictest } from './permission.ts';
import { TurnAbort } from './phase.ts';
import { assertMay, type Principal, reaches } from './principal.ts';
import { assertWorkspace, directoriesFor, findSession, holdSession, settleFault, workspaceFor } from './reach.ts';
import type { Runtime } from './runtime.ts';
import type { Session } from './session.ts';
import { newSessionId } from './session-id.ts';

export interface NewSession {
  /** Absolute path of the directory to work in. */
  workspace: string;
  /** Further ones for its tools. */
  additionalDirectories?: readonly string[];
  mode?: Mode;
}

/** A new Session of the principal's owner. @throws CoreError `forbidden`, `invalid_params` (directory), `limit_exceeded`. */
export async function start(
  runtime: Runtime,
  principal: Principal,
  { workspace: path, additionalDirectories: paths = [], mode = 'build' }: NewSession,
): Promise<Session> {
  assertMay(principal, 'prompt');
  const sessionId = newSessionId(runtime.clock.now());
  const { permissionCeiling } = runtime.settings;
  const { owner } = principal;
  const workspace = await workspaceFor(runtime, principal, path);
  const added = await directoriesFor(runtime, principal, workspace, paths);
  const roots = { workspace, ...(added.length > 0 && { additionalDirectories: added }) };
  const data = { ...roots, mode, permissionCeiling, owner };
  const create = () => runtime.sessions.create([{ sessionId, type: 'session_created', data }]);
  using hold = await runtime.usage.addSession(owner, create);
  return hold.session;
}

/**
 * Gives the Session these directories beside its Workspace, as `directoriesFor` has found them, in place of those it has.
 * A Turn that runs keeps what it started with.
 *
 * @throws CoreError `forbidden`, `unknown_session`, `log_write_failed`.
 */
export async function setDirectories(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
  additionalDirectories: string[],
): Promise<void> {
  using hold = await holdSession(runtime, principal, sessionId, 'prompt');
  const { session } = hold;
  await settleFault(session);
  if (isSameList(session.state.additionalDirectories, additionalDirectories)) return;
  const data = { additionalDirectories, by: principal.name };
  await session.record([{ sessionId, type: 'session_configured', data }]);
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

const LIST_PAGE = 200;

/**
 * The Sessions that the principal reaches, newest `updatedAt` first. Read page by page, each is there at most once; one
 * that is updated meanwhile moves to the front, and who has read on from there finds it when listing anew.
 *
 * @throws CoreError `forbidden`.
 */
export async function list(
  runtime: Runtime,
  principal: Principal,
  { workspace, before, limit }: { workspace?: string | undefined; before?: SessionQuery['before']; limit: number },
): Promise<SessionRow[]> {
  assertMay(principal, 'observe');
  // A directory that is gone has no real path; its Sessions are still there, under the name it had.
  const real = workspace && (await runtime.resolveWorkspace(workspace).catch(() => workspace));
  const found: SessionRow[] = [];
  for (let last = before; ; ) {
    const query = { owner: principal.owner, limit: LIST_PAGE, ...(real && { workspace: real }) };
    const page = await runtime.log.sessions(last ? { ...query, before: last } : query);
    found.push(...page.filter((row) => reaches(principal, row)));
    last = page.at(-1);
    if (found.length >= limit || page.length < LIST_PAGE) return found.slice(0, limit);
  }
}

/**
 * Gives the Session a title that the runtime does not replace.
 *
 * @throws CoreError `forbidden`, `unknown_session`, `log_write_failed`.
 */
export async function setTitle(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
  title: string,
): Promise<void> {
  using hold = await holdSession(runtime, principal, sessionId, 'prompt');
  const { session } = hold;
  await settleFault(session);
  session.titling++;
  try {
    await session.record([{ sessionId, type: 'session_titled', data: { title, by: 'client' } }]);
  } finally {
    session.titling--;
  }
}

interface Fork {
  sessionId: string;
  /** The Session's own: it is for the caller to know where the tools will work. */
  workspace: string;
  /** Those of the new Session, whatever the other one has. */
  additionalDirectories?: readonly string[];
  /** What came after the seq that it names is left out. */
  upTo?: ((source: Session) => Promise<number>) | undefined;
}

/**
 * A new Session of the same owner in the same Workspace, whose Log begins with what the other had recorded up to the end
 * of a finished Turn. It is never looser than the other is now, and has its title.
 *
 * @throws CoreError `forbidden`, `unknown_session`, `invalid_params` (directory), `limit_exceeded`, `log_write_failed`.
 */
export async function fork(runtime: Runtime, principal: Principal, wanted: Fork) {
  const { sessionId, workspace, additionalDirectories = [], upTo } = wanted;
  using source = await holdSession(runtime, principal, sessionId, 'prompt');
  await assertWorkspace(runtime, principal, source.session, workspace);
  const own = source.session.state.workspace;
  const directories = await directoriesFor(runtime, principal, own, additionalDirectories);
  const events = await finishedTurns(source.session, await upTo?.(source.session));
  const drafts = forkOf(source.session, events, newSessionId(runtime.clock.now()), directories, runtime, principal);
  using hold = await runtime.usage.addSession(principal.owner, () => runtime.sessions.create(drafts));
  return hold.session;
}

const COPY_PAGE = 1_000;

/** Everything up to the last `turn_finished` that is not after `upTo`; without one only the beginning. */
async function finishedTurns(session: Session, upTo = session.head): Promise<Event[]> {
  const events: Event[] = [];
  while (events.length <= upTo) {
    const page = await session.read(events.length - 1, Math.min(COPY_PAGE, upTo + 1 - events.length));
    if (page.length === 0) break;
    events.push(...page.map(({ event }) => event));
  }
  const end = events.findLastIndex(({ type }) => type === 'turn_finished');
  return events.slice(0, Math.max(end, 0) + 1);
}

function forkOf(
  { id, state }: Session,
  [first, ...rest]: readonly Event[],
  sessionId: string,
  directories: string[],
  { settings }: Runtime,
  { name: by }: Principal,
): Beginning {
  if (first?.type !== 'session_created') throw new CoreError('unknown_session', 'unknown session', { sessionId: id });
  const ceiling = strictest(first.data.permissionCeiling, settings.permissionCeiling);
  const forkedFrom = { sessionId: id, seq: rest.length };
  const created = { ...first.data, permissionCeiling: ceiling, forkedFrom };
  let { title, permissionMode }: Partial<Session['state']> = { title: null, permissionMode: ceiling };
  let { additionalDirectories = [] } = first.data;
  const rules = new Set<string>();
  for (const { type, data } of rest) {
    if (type === 'session_titled') title = data.title;
    if (type === 'session_configured') {
      permissionMode = data.permissionMode ?? permissionMode;
      additionalDirectories = data.additionalDirectories ?? additionalDirectories;
    }
    if (type === 'permission_rule') rules.add(data.ruleId);
    if (type === 'permission_rule_revoked') rules.delete(data.ruleId);
  }
  const drafts: EventDraft[] = rest.map((event) => copyOf(event, sessionId));
  // What somebody allowed for good they allowed to the Session that they were looking at.
  for (const ruleId of rules) drafts.push({ sessionId, type: 'permission_rule_revoked', data: { ruleId, by } });
  const wanted = strictest(ceiling, permissionMode, state.permissionMode);
  if (wanted !== permissionMode)
    drafts.push({ sessionId, type: 'session_configured', data: { permissionMode: wanted, by } });
  if (!isSameList(additionalDirectories, directories))
    drafts.push({ sessionId, type: 'session_configured', data: { additionalDirectories: directories, by } });
  if (state.title !== null && state.title !== title)
    drafts.push({ sessionId, type: 'session_titled', data: { title: state.title, by: 'client' } });
  return [{ sessionId, type: 'session_created', data: created }, ...drafts];
}

/** A key names a prompt of its own Session: in the copy it would answer for one that never ran there. */
function copyOf({ type, data }: Event, sessionId: string): EventDraft {
  if (!('promptKey' in data)) return { sessionId, type, data } as EventDraft;
  const { promptKey: _, ...rest } = data;
  return { sessionId, type, data: rest } as EventDraft;
}

/**
 * Deletes a Session with everything recorded of it. Its Turn is cancelled first; from then on nobody reaches it and nothing
 * is recorded, and when this resolves it is gone for ever. One that is unknown, or not the principal's, is gone already.
 *
 * @throws CoreError `forbidden`, `log_write_failed`: nothing was removed, and the Session goes on.
 */
export async function remove(runtime: Runtime, principal: Principal, sessionId: string): Promise<void> {
  if (!(await findSession(runtime, principal, sessionId, 'prompt'))) return;
  // Whoever opens it at this moment opens the same one.
  using hold = await runtime.sessions.hold(sessionId);
  const { session } = hold;
  for (;;) {
    const { phase } = session;
    switch (phase.kind) {
      case 'running':
        phase.turn.abort.abort(new TurnAbort({ outcome: 'cancelled', by: principal.name }));
        await phase.turn.done.catch(() => undefined);
        continue;
      case 'faulted':
        await settleFault(session);
        continue;
      case 'deleting':
        return await phase.done;
      case 'deleted':
        return;
      case 'idle':
      case 'stranded':
        // In this very tick, or somebody could begin a Turn.
        session.phase = { kind: 'deleting', done: deleteLog(runtime, session, phase) };
    }
  }
}

/** @param before the phase to go back to when the Log does not let go of it. */
async function deleteLog(runtime: Runtime, session: Session, before: Session['phase']): Promise<void> {
  const { id, state } = session;
  try {
    await runtime.usage.removeSession(state.owner, () => runtime.log.deleteSession(id));
  } catch (error) {
    if (session.phase.kind === 'deleting') session.phase = before;
    throw error;
  }
  session.phase = { kind: 'deleted' };
  runtime.bus.publish(id, { type: 'deleted' });
  await runtime.toolboxes.close(id);
}
