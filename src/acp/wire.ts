/**
 * What is on the wire, as types: one line per method, with ACP's own shapes and ours beside them. The method table is
 * checked against it and the reference client is typed from it; nothing here exists at run time.
 */
import type {
  AuthenticateRequest,
  AuthenticateResponse,
  AvailableCommand,
  CancelNotification,
  CloseSessionRequest,
  CloseSessionResponse,
  DeleteSessionRequest,
  DeleteSessionResponse,
  InitializeRequest,
  InitializeResponse,
  ListSessionsRequest,
  ListSessionsResponse,
  LoadSessionRequest,
  LoadSessionResponse,
  LogoutRequest,
  LogoutResponse,
  NewSessionRequest,
  NewSessionResponse,
  PlanEntry,
  PromptRequest,
  PromptResponse,
  ResumeSessionRequest,
  ResumeSessionResponse,
  SessionConfigOption,
  SessionInfo,
  SessionModeState,
  SessionNotification,
  SessionUpdate,
  SetSessionConfigOptionRequest,
  SetSessionConfigOptionResponse,
  SetSessionModeRequest,
  SetSessionModeResponse,
} from '@agentclientprotocol/sdk';
import type {
  ForkSessionRequest,
  ForkSessionResponse,
  SetSessionTitleRequest,
  SetSessionTitleResponse,
} from '@agentclientprotocol/sdk/unstable';

interface Call<Params, Result> {
  params: Params;
  result: Result;
}

/** The requests a client may send, by method name. */
export interface Methods {
  initialize: Call<InitializeRequest, InitializeResponse>;
  authenticate: Call<AuthenticateRequest, AuthenticateResponse>;
  logout: Call<LogoutRequest, LogoutResponse>;
  'session/new': Call<NewSessionRequest, NewSessionResponse>;
  'session/load': Call<LoadSessionRequest, LoadSessionResponse>;
  'session/resume': Call<ResumeSessionRequest, ResumeSessionResponse>;
  'session/list': Call<ListSessionsRequest, SessionPage>;
  'session/close': Call<CloseSessionRequest, CloseSessionResponse>;
  'session/delete': Call<DeleteSessionRequest, DeleteSessionResponse>;
  'session/fork': Call<ForkSessionRequest, ForkSessionResponse>;
  'session/set_title': Call<SetSessionTitleRequest, SetSessionTitleResponse>;
  'session/prompt': Call<PromptRequest, PromptResponse>;
  'session/set_mode': Call<SetSessionModeRequest, SetSessionModeResponse>;
  'session/set_config_option': Call<SetSessionConfigOptionRequest, SetSessionConfigOptionResponse>;
  'session/set_model': Call<{ sessionId: string; modelId: string }, Record<string, never>>;
  '_pixir/session/attach': Call<AttachParams, AttachResult>;
  '_pixir/session/detach': Call<{ sessionId: string }, Record<string, never>>;
  '_pixir/session/history': Call<HistoryParams, HistoryPage>;
  '_pixir/session/permissions': Call<{ sessionId: string }, { rules: Rule[] }>;
  '_pixir/session/permissions/revoke': Call<{ sessionId: string; ruleId: string }, Record<string, never>>;
  '_pixir/session/info': Call<{ sessionId: string }, SessionDetails>;
  '_pixir/session/files': Call<{ sessionId: string; query: string; limit: number }, { files: FoundFile[] }>;
  '_pixir/session/log': Call<LogParams, LogPage>;
  '_pixir/session/verify': Call<{ sessionId: string }, LogVerdict>;
  '_pixir/sessions/watch': Call<Record<string, never>, Record<string, never>>;
  '_pixir/sessions/unwatch': Call<Record<string, never>, Record<string, never>>;
  '_pixir/directories': Call<{ path?: string | undefined }, Directories>;
}

/** The notifications a client may send. */
export interface Notifications {
  'session/cancel': CancelNotification;
}

interface AttachParams {
  sessionId: string;
  /** Absent: from the start; `head`: only what comes. Any text is taken: one that does not fit is a reset. */
  cursor?: string | undefined;
  /** Absent: `controller`. */
  role?: Role | undefined;
}

export interface AttachResult {
  /** `reset`: the client clears its transcript and gets everything from the oldest Event. */
  mode: 'current' | 'backfill' | 'reset';
  reason?: ResetReason;
  /** The cursor of the newest Event. */
  head: string;
  state: 'idle' | 'running';
  turn?: { turnId: string; promptKey?: string };
  role: Role;
}

/** A controller takes part; an observer is asked nothing and changes nothing. */
export type Role = 'controller' | 'observer';

/** Why a cursor does not fit the Log. */
export type ResetReason = 'epoch_changed' | 'diverged' | 'ahead' | 'pruned' | 'malformed';

interface HistoryParams {
  sessionId: string;
  /** Everything up to this position; absent: up to the head. */
  before?: string | undefined;
  /** How many Events a page covers. */
  limit: number;
}

export interface HistoryPage {
  /** The params of the `session/update`s of this page, oldest first. */
  updates: UpdateParams[];
  /** Names the page before this one; null at the beginning. */
  before: string | null;
}

/** A decision that is remembered: what `text` says is decided without asking, until the rule is revoked. */
interface Rule {
  ruleId: string;
  decision: 'allow' | 'deny';
  tool: string;
  /** As it was offered. */
  text: string;
  by: string;
  /** ISO 8601. */
  at: string;
}

/** What `_meta.pixir` of a Session's line in a list says. */
export interface SessionStatus {
  state: 'idle' | 'running';
  /** Permissions that wait for a decision. */
  waiting: number;
  /** How its last Turn ended; null when none has. */
  outcome: 'completed' | 'failed' | 'interrupted' | 'cancelled' | 'timed_out' | null;
  /** Of the newest Event. */
  seq: number;
  /** ISO 8601. */
  createdAt: string;
}

export type ListedSession = SessionInfo & { _meta: { pixir: SessionStatus } };

export interface SessionPage extends ListSessionsResponse {
  sessions: ListedSession[];
}

/** `_pixir/sessions/changed`: a wake-up with the lines as they are now, for those who watch the list. */
export interface SessionsChanged {
  sessions: ListedSession[];
  removed: string[];
}

/** A Session as it is now, beside its transcript. */
export interface SessionDetails {
  session: ListedSession;
  modes: SessionModeState;
  configOptions: SessionConfigOption[];
  commands: AvailableCommand[];
  plan: PlanEntry[] | null;
  usage: { used: number; size: number } | null;
  /** Those that wait for a decision. `expiresAt`: ISO 8601. */
  permissions: { permissionId: string; expiresAt: string }[];
}

export interface FoundFile {
  /** Relative to the Session's workspace. */
  path: string;
  uri: string;
}

/** What there is to choose a workspace from: the roots (path null), or the directories inside one. */
export interface Directories {
  path: string | null;
  parent: string | null;
  directories: { name: string; path: string }[];
}

interface LogParams {
  sessionId: string;
  /** A seq, exclusive; absent: from the head. */
  before?: number | undefined;
  limit: number;
  /** With the Events themselves. */
  full?: boolean | undefined;
}

export interface LogPage {
  /** Oldest first. */
  events: LoggedEvent[];
  before: number | null;
  epoch: string;
}

export interface LoggedEvent {
  seq: number;
  id: string;
  type: string;
  /** ISO 8601. */
  ts: string;
  /** Of its JSON, in bytes. */
  size: number;
  chk: string;
  by?: string;
  turnId?: string;
  event?: unknown;
}

/** What re-computing the check chain found. `chk` is that of the newest Event. */
export type LogVerdict =
  | { ok: true; events: number; chk: string }
  | { ok: false; events: number; firstBad: { seq: number; reason: string } };

/** The params of one `session/update`, with what rides beside the update itself. */
export interface UpdateParams extends SessionNotification {
  update: SessionUpdate;
  _meta?: { pixir: UpdateMeta };
}

export interface UpdateMeta {
  /** The position of a client that has applied this update and everything before it. */
  cursor?: string;
  /** The update's text replaces its message's: a crash lost the tail of what had been streamed. */
  replace?: true;
  /** The key of the prompt that this message is. */
  promptKey?: string;
}

/** `_pixir/session/caught_up`: everything there was at the attach has been sent. */
export interface CaughtUp {
  sessionId: string;
  cursor: string;
  state: 'idle' | 'running';
  /** Every permission that waits for a decision, by id; a question for any other is settled. */
  permissions: string[];
}

/**
 * `_pixir/session/state`: a Turn has begun or ended, in its place among the updates; for clients that are attached and
 * have caught up.
 */
export interface StateChange {
  sessionId: string;
  cursor: string;
  state: 'idle' | 'running';
  turn: { turnId: string; promptKey?: string };
}

/** `_pixir/session/closed`: there is no such Session any more, and nothing follows. */
export interface SessionClosed {
  sessionId: string;
  reason: 'deleted';
}
