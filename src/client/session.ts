/**
 * One Session as its user sees it, over however many connections it takes: it attaches where the last one ended, and
 * keeps the transcript. It never shows anything twice.
 */
import type { ContentBlock, PromptResponse, RequestPermissionRequest, SessionUpdate } from '@agentclientprotocol/sdk';
import type { AttachResult, CaughtUp, ResetReason, Role, StateChange, UpdateParams } from '../acp/wire.ts';
import { createListeners } from './listeners.ts';
import { nowhere, type Place, type PromptMeta, type SessionMemory } from './memory.ts';
import { OwnPrompt } from './own-prompt.ts';
import { createPermissions, type Permission, type Permissions } from './permissions.ts';
import type { Ports } from './ports.ts';
import { type ClientError, closed, type RequestId, type Rpc } from './rpc.ts';
import {
  addOwnPrompt,
  applyUpdate,
  confirmPrompt,
  emptyTranscript,
  prepend,
  removePrompt,
  type Transcript,
  withoutGhosts,
} from './transcript.ts';

/** What happened, in order. The transcript has it already. */
export type Change =
  | { type: 'update'; update: SessionUpdate; replace: boolean }
  /** A prompt of ours was taken; it stands last in the transcript until the server works on it. */
  | { type: 'prompt'; promptKey: string }
  | { type: 'state'; running: boolean }
  /** The transcript was cleared; everything comes anew. */
  | { type: 'reset'; reason: ResetReason | undefined }
  | { type: 'caught_up'; running: boolean }
  | { type: 'permission'; permission: Permission }
  /** It was decided, here or elsewhere, or withdrawn. */
  | { type: 'permission_settled'; permissionId: string }
  /** We let go of it, or there is no such Session. Nothing follows. */
  | { type: 'closed'; error: ClientError };

export interface SessionOptions {
  role?: Role;
  /** `end`: begins at the head, for `older` to go back from. Where something is stored, it goes on there. */
  from?: 'start' | 'end';
}

/** What a Session needs of its client. */
export interface SessionHost {
  rpc: Rpc;
  ports: Ports;
  /** The same for every life of a Session in this client. */
  memory(sessionId: string): SessionMemory;
  /** Sends what may be repeated, on this connection or the next. */
  request: Rpc['request'];
  caughtUp(): void;
  ended(sessionId: string): void;
}

const SAVE_MS = 500;
/** The server's code for a Session that does not exist, or not for us. */
export const UNKNOWN_SESSION = -32002;

export class Session {
  readonly id: string;
  readonly #host: SessionHost;
  readonly #role: Role;
  readonly #memory: SessionMemory;
  readonly #listeners = createListeners<Change>();
  readonly #permissions: Permissions;
  readonly #own: OwnPrompt;
  #stage: 'detached' | 'attaching' | 'catching_up' | 'live' | 'closed' = 'detached';
  /** What is shown, and how far that is. */
  #place: Place = nowhere();
  #running = false;
  #cancelSave: (() => void) | undefined;

  private constructor(id: string, host: SessionHost, { role = 'controller', from = 'start' }: SessionOptions) {
    this.id = id;
    this.#host = host;
    this.#role = role;
    if (from === 'end') this.#place.cursor = 'head';
    this.#memory = host.memory(id);
    const { tell } = this.#listeners;
    this.#permissions = createPermissions({
      respond: host.rpc.respond,
      asked: (permission) => tell({ type: 'permission', permission }),
      settled: (permissionId) => tell({ type: 'permission_settled', permissionId }),
    });
    this.#own = new OwnPrompt(id, host.rpc, this.#memory, {
      ready: () => this.#stage === 'live',
      taken: ({ promptKey, prompt }) => {
        addOwnPrompt(this.#place.transcript, promptKey, prompt);
        tell({ type: 'prompt', promptKey });
      },
      settled: ({ promptKey }, happened) => {
        if (happened) confirmPrompt(this.#place.transcript, promptKey);
        else removePrompt(this.#place.transcript, promptKey);
        this.#saveSoon();
      },
    });
  }

  /** With what an earlier life left: its transcript, and its prompt, which is sent again. @internal */
  static async open(id: string, host: SessionHost, options: SessionOptions): Promise<Session> {
    const session = new Session(id, host, options);
    const [place, prompt] = await Promise.all([session.#memory.place(), session.#memory.prompt()]);
    if (place) session.#place = { ...place, transcript: withoutGhosts(place.transcript, prompt?.promptKey) };
    if (prompt) session.#own.restore(prompt);
    return session;
  }

  /** What a person sees: plain data, changed in place, another object after a `reset`. */
  get transcript(): Readonly<Transcript> {
    return this.#place.transcript;
  }

  /** The permissions that wait for a decision, ours or anybody's, by `permissionId`. */
  get permissions(): ReadonlyMap<string, Permission> {
    return this.#permissions.open;
  }

  get caughtUp(): boolean {
    return this.#stage === 'live';
  }

  /** A Turn is running, or a prompt of ours waits for one. */
  get running(): boolean {
    return this.#running || this.#own.current !== undefined;
  }

  /** The answer to the prompt that is under way, of this life or of an earlier one. */
  get pending(): Promise<PromptResponse> | undefined {
    return this.#own.answer;
  }

  /**
   * Sends a prompt and resolves when its Turn has ended, whatever happens to connections and servers meanwhile; waits
   * for a connection where there is none. It runs once.
   *
   * @param meta the prompt's `_meta`: knobs for this Turn only.
   * @throws ClientError `prompt_pending`, `error_response` (another Turn is running: `data.reason` is
   *   `turn_in_progress`), `too_large`, `closed`, `refused`.
   */
  async prompt(content: string | ContentBlock[], meta: PromptMeta = {}): Promise<PromptResponse> {
    if (this.#stage === 'closed') throw closed();
    return this.#own.take(typeof content === 'string' ? [{ type: 'text', text: content }] : content, meta);
  }

  /** Stops the Turn that runs. A prompt that has not left yet is taken back. */
  cancel(): void {
    this.#own.cancel();
  }

  /** Answers a permission with one of the options it offers; null: with none. Kept until the server has it. */
  answer(permissionId: string, optionId: string | null): void {
    this.#permissions.answer(permissionId, optionId);
  }

  /** Adds up to `limit` Events from before the transcript. False when it begins with the Session now. */
  async older(limit = 100): Promise<boolean> {
    const before = this.#place.before;
    if (before === null) return false;
    const page = await this.#host.request('_pixir/session/history', { sessionId: this.id, before, limit });
    // A reset, or a second call, came first.
    if (this.#place.before !== before) return this.#place.before !== null;
    const older = emptyTranscript();
    for (const { update, _meta } of page.updates) applyUpdate(older, update, _meta?.pixir);
    prepend(this.#place.transcript, older);
    this.#place.before = page.before;
    this.#saveSoon();
    return page.before !== null;
  }

  /** Everything that happens from now on, until the Session is closed or the loop is left. */
  changes(): AsyncIterableIterator<Change> {
    return this.#listeners.iterate();
  }

  /** Lets go of the Session. Nothing of it stops, and what is stored stays. */
  close(): void {
    if (this.#stage === 'closed') return;
    this.#host.rpc.request('_pixir/session/detach', { sessionId: this.id }).catch(() => undefined);
    this.#end(closed());
  }

  /** @internal */
  connected(): void {
    if (this.#stage !== 'closed') this.#attach(this.#place.cursor);
  }

  /** @internal */
  disconnected(tooLarge: boolean): void {
    if (this.#stage === 'closed') return;
    this.#stage = 'detached';
    this.#permissions.disconnected();
    this.#own.disconnected(tooLarge);
  }

  /** @internal */
  update({ update, _meta }: UpdateParams): void {
    // Before the answer to the attach there can be frames of an older subscription: they come again.
    if (this.#stage !== 'catching_up' && this.#stage !== 'live') return;
    const meta = _meta?.pixir ?? {};
    applyUpdate(this.#place.transcript, update, meta);
    this.#place.cursor = meta.cursor ?? this.#place.cursor;
    this.#saveSoon();
    this.#listeners.tell({ type: 'update', update, replace: meta.replace === true });
  }

  /** @internal */
  stateChanged({ cursor, state, turn }: StateChange): void {
    if (this.#stage !== 'live') return;
    this.#place.cursor = cursor;
    this.#running = state === 'running';
    if (turn.promptKey !== undefined) confirmPrompt(this.#place.transcript, turn.promptKey);
    this.#saveSoon();
    this.#listeners.tell({ type: 'state', running: this.#running });
  }

  /** @internal */
  nowCaughtUp({ cursor, state, permissions }: CaughtUp): void {
    if (this.#stage !== 'catching_up') return;
    this.#stage = 'live';
    this.#place.cursor = cursor;
    this.#running = state === 'running';
    this.#permissions.keepOnly(permissions);
    this.#saveSoon();
    this.#listeners.tell({ type: 'caught_up', running: this.running });
    this.#own.send();
    this.#host.caughtUp();
  }

  /** @internal */
  asked(id: RequestId, request: RequestPermissionRequest): void {
    this.#permissions.ask(id, request);
  }

  /** @internal */
  withdrawn(id: RequestId): boolean {
    return this.#permissions.withdraw(id);
  }

  /** @internal */
  failed(error: ClientError): void {
    if (this.#stage !== 'closed') this.#end(error);
  }

  #attach(cursor: string | undefined): void {
    this.#stage = 'attaching';
    const params = { sessionId: this.id, role: this.#role, ...(cursor === undefined ? {} : { cursor }) };
    this.#host.rpc.ask('_pixir/session/attach', params, {
      resolve: (result) => this.#attached(cursor, result),
      reject: (error) => {
        if (error.reason !== 'connection_lost') this.#end(error);
      },
    });
  }

  #attached(cursor: string | undefined, { mode, reason, head }: AttachResult): void {
    if (this.#stage !== 'attaching') return;
    if (cursor === 'head') {
      // The item that is being written began before: attached at the newest Event, it comes from its first letter.
      this.#place.before = this.#place.cursor = head;
      this.#attach(head);
      return;
    }
    this.#stage = 'catching_up';
    if (mode !== 'reset') return;
    this.#place = nowhere();
    const own = this.#own.current;
    if (own) addOwnPrompt(this.#place.transcript, own.promptKey, own.prompt);
    this.#listeners.tell({ type: 'reset', reason });
  }

  #end(error: ClientError): void {
    this.#stage = 'closed';
    this.#save();
    // What was kept of a Session that does not exist, or not for us, is of no use.
    if (error.code === UNKNOWN_SESSION) this.#memory.forget().catch(() => undefined);
    this.#own.fail(error);
    this.#listeners.tell({ type: 'closed', error });
    this.#listeners.end();
    this.#host.ended(this.id);
  }

  #saveSoon(): void {
    this.#cancelSave ??= this.#host.ports.after(SAVE_MS, () => this.#save());
  }

  #save(): void {
    this.#cancelSave?.();
    this.#cancelSave = undefined;
    const { cursor } = this.#place;
    if (cursor !== undefined && cursor !== 'head') void this.#memory.savePlace(this.#place);
  }
}
