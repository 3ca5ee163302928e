/**
 * What is on the wire, as types: one line per method, with ACP's own shapes and ours beside them. The method table is
 * checked against it and the reference client is typed from it; nothing here exists at run time.
 */
import type {
  AuthenticateRequest,
  AuthenticateResponse,
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
  PromptRequest,
  PromptResponse,
  ResumeSessionRequest,
  ResumeSessionResponse,
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
  'session/list': Call<ListSessionsRequest, ListSessionsResponse>;
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
