/**
 * Who reaches what: the one place where it is decided whether a Session or a directory is there for a principal. It must
 * never tell what is not theirs from what does not exist.
 */
import { settleStranded } from './driver.ts';
import { CoreError } from './errors.ts';
import type { SessionRow } from './log.ts';
import { assertThere } from './phase.ts';
import { assertMay, mayWorkIn, type Principal, reaches, type Scope } from './principal.ts';
import { distinctRoots } from './roots.ts';
import type { Runtime } from './runtime.ts';
import type { Session } from './session.ts';
import { assertSessionId } from './session-id.ts';
import type { Hold } from './sessions.ts';

/**
 * The row of a Session that the principal reaches; undefined also for one that is not theirs, after the same work: a look
 * at the list of Sessions and nothing more.
 *
 * @throws CoreError `forbidden`, `invalid_params`.
 */
export async function findSession(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
  scope: Scope,
): Promise<SessionRow | undefined> {
  assertMay(principal, scope);
  assertSessionId(sessionId);
  const row = await runtime.log.session(sessionId);
  return row && reaches(principal, row) ? row : undefined;
}

/** The row of a Session that must be there. @throws CoreError `forbidden`, `invalid_params`, `unknown_session`. */
export async function reachSession(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
  scope: Scope,
): Promise<SessionRow> {
  const row = await findSession(runtime, principal, sessionId, scope);
  if (!row) throw new CoreError('unknown_session', 'unknown session', { sessionId });
  return row;
}

/** Holds the Session for what the scope allows. @throws CoreError `forbidden`, `invalid_params`, `unknown_session`. */
export async function holdSession(
  runtime: Runtime,
  principal: Principal,
  sessionId: string,
  scope: Scope,
): Promise<Hold> {
  await reachSession(runtime, principal, sessionId, scope);
  return await holdSettled(runtime, sessionId);
}

/** Holds the Session with everything settled that a crash left behind. @throws CoreError `unknown_session`. */
export async function holdSettled(runtime: Runtime, sessionId: string): Promise<Hold> {
  using stack = new DisposableStack();
  const hold = stack.use(await runtime.sessions.hold(sessionId));
  await settleStranded(runtime, hold);
  assertThere(hold.session);
  stack.move();
  return hold;
}

/** A Session that could not write reads its Log again before it takes anything new. */
export async function settleFault(session: Session): Promise<void> {
  if (session.phase.kind !== 'faulted') return;
  await session.phase.turn?.done.catch(() => undefined);
  await session.recover();
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

/**
 * The real directories in which the tools of a Session may work besides its Workspace, each once.
 *
 * @throws CoreError `invalid_params`, alike for one that does not exist and one that is not the principal's to work in.
 */
export async function directoriesFor(
  runtime: Runtime,
  principal: Principal,
  workspace: string,
  paths: readonly string[],
): Promise<string[]> {
  const found = paths.map((path, index) =>
    workspaceFor(runtime, principal, path).catch((cause) => {
      const field = `additionalDirectories.${index}`;
      throw new CoreError('invalid_params', 'not a directory that may be added', { field }, { cause });
    }),
  );
  return distinctRoots(workspace, await Promise.all(found));
}

/** @throws CoreError `invalid_params` for another directory: the tools would work elsewhere than the client believes. */
export async function assertWorkspace(
  runtime: Runtime,
  principal: Principal,
  { state }: Session,
  path: string,
): Promise<void> {
  if ((await workspaceFor(runtime, principal, path)) === state.workspace) return;
  throw new CoreError('invalid_params', 'the session belongs to another directory', { field: 'cwd' });
}
