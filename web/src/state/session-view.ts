/** What components draw of one Session: plain data, made anew at most once a frame, with the same objects where nothing changed. */
import type { AvailableCommand, SessionConfigOption } from '@agentclientprotocol/sdk';
import type { SessionDetails } from '../../../src/client/connect.ts';
import type { Permission } from '../../../src/client/permissions.ts';
import type { Session } from '../../../src/client/session.ts';
import { type Item, itemCopies } from './items.ts';
import type { QueuedPrompt } from './queue.ts';

export interface SessionView {
  sessionId: string;
  /** `gone`: there is no such Session, or not for us. */
  status: 'opening' | 'open' | 'gone';
  /** As a person reads them. */
  items: readonly Item[];
  /** There are older ones at the server. */
  hasOlder: boolean;
  title: string | undefined;
  cwd: string | undefined;
  plan: NonNullable<SessionDetails['plan']>;
  usage: SessionDetails['usage'];
  options: readonly SessionConfigOption[];
  commands: readonly AvailableCommand[];
  /** In the order in which they were asked. */
  permissions: readonly WaitingPermission[];
  /** Those that somebody decided who was not here. */
  decidedElsewhere: ReadonlySet<string>;
  running: boolean;
  /** A cancel is under way. */
  stopping: boolean;
  caughtUp: boolean;
  queue: readonly QueuedPrompt[];
  /** Why the last prompt was not taken. */
  failed: { prompt: QueuedPrompt; message: string } | undefined;
}

export interface WaitingPermission extends Permission {
  /** Milliseconds since 1970. */
  expiresAt: number | undefined;
}

export function nothingYet(sessionId: string): SessionView {
  return {
    sessionId,
    status: 'opening',
    items: [],
    hasOlder: true,
    title: undefined,
    cwd: undefined,
    plan: [],
    usage: null,
    options: [],
    commands: [],
    permissions: [],
    decidedElsewhere: new Set(),
    running: false,
    stopping: false,
    caughtUp: false,
    queue: [],
    failed: undefined,
  };
}

/** What the server knows and what the page knows, beside the client's own. */
export interface Surroundings extends Pick<SessionView, 'hasOlder' | 'decidedElsewhere' | 'stopping' | 'failed'> {
  gone: boolean;
  details: SessionDetails | undefined;
  commands: readonly AvailableCommand[] | undefined;
  queue: readonly QueuedPrompt[];
}

/** @returns what makes the next view; it remembers the last one. */
export function viewMaker(sessionId: string): (session: Session | undefined, around: Surroundings) => SessionView {
  const copies = itemCopies();
  let last = nothingYet(sessionId);

  return (session, around) => {
    const { details, gone, hasOlder, decidedElsewhere, failed, queue } = around;
    const local = { hasOlder, decidedElsewhere, failed, queue };
    if (!session) {
      last = { ...last, ...local, status: gone ? 'gone' : 'opening' };
      return last;
    }
    const { transcript, permissions, running, caughtUp } = session;
    last = {
      ...local,
      sessionId,
      status: gone ? 'gone' : 'open',
      items: copies(transcript.items),
      title: transcript.title ?? details?.session.title ?? undefined,
      cwd: details?.session.cwd,
      plan: transcript.plan ?? details?.plan ?? NONE,
      usage: transcript.usage ?? details?.usage ?? null,
      options: transcript.options ?? details?.configOptions ?? NONE,
      commands: around.commands ?? details?.commands ?? NONE,
      permissions: waiting(last.permissions, permissions, details),
      running,
      stopping: around.stopping && running,
      caughtUp,
    };
    return last;
  };
}

/** The same list as before where it says the same. */
const NONE: never[] = [];

function waiting(
  before: SessionView['permissions'],
  permissions: Session['permissions'],
  details: SessionDetails | undefined,
): SessionView['permissions'] {
  const now = [...permissions.values()].map(({ permissionId, request }): WaitingPermission => {
    const known = before.find((other) => other.permissionId === permissionId && other.expiresAt !== undefined);
    if (known) return known;
    const said = request._meta?.pixir as { expiresAt?: string } | undefined;
    const at = said?.expiresAt ?? details?.permissions.find((other) => other.permissionId === permissionId)?.expiresAt;
    return { permissionId, request, expiresAt: at === undefined ? undefined : Date.parse(at) };
  });
  const isSame = now.length === before.length && now.every((permission, index) => permission === before[index]);
  return isSame ? before : now;
}
