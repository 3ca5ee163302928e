/**
 * One Session that the page has open: the client's own, what else the server knows of it, and the prompts that wait here.
 * Components see only its `view`, and change it only through its methods.
 */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { ClientError } from '../../../src/client/rpc.ts';
import type { Change, Session } from '../../../src/client/session.ts';
import type { Client } from '../server/client.ts';
import { perFrame } from './frame.ts';
import { createQueue, type Queue, type QueuedPrompt } from './queue.ts';
import { nothingYet, type SessionView, type Surroundings, viewMaker } from './session-view.ts';
import { createStore, type Store } from './store.ts';

/** Some screens of items, read before anything is shown. */
const FIRST_ITEMS = 60;
const FIRST_PAGE = 100;
const OLDER_PAGE = 200;
const ALL_PAGE = 500;

export class OpenSession {
  readonly sessionId: string;
  readonly view: Store<SessionView>;
  readonly #client: Client;
  readonly #queue: Queue;
  readonly #makeView: ReturnType<typeof viewMaker>;
  readonly #refresh: () => void;
  readonly #answeredHere = new Set<string>();
  readonly #around: Omit<Surroundings, 'queue'> = {
    gone: false,
    hasOlder: true,
    stopping: false,
    decidedElsewhere: new Set(),
    failed: undefined,
    details: undefined,
    commands: undefined,
  };
  #session: Session | undefined;
  #isClosed = false;

  constructor(client: Client, sessionId: string) {
    this.sessionId = sessionId;
    this.#client = client;
    this.view = createStore(nothingYet(sessionId));
    this.#makeView = viewMaker(sessionId);
    this.#refresh = perFrame(() => this.#show());
    this.#queue = createQueue(sessionId, this.#refresh);
    this.#open().catch((error: unknown) => {
      // Refused: the whole page says so. Anything else is about this Session.
      if (!isRefused(error)) this.#around.gone = true;
      this.#refresh();
    });
  }

  /** Something of it is still to be sent, or not answered yet: who lets go of it now stops its prompts from going on. */
  get isWaiting(): boolean {
    return this.#queue.all().length > 0 || this.#session?.pending !== undefined;
  }

  /** Now, or when what runs has ended: in the order in which they came. */
  send(content: ContentBlock[]): void {
    this.#queue.add(content);
    this.#sendNext();
  }

  /** False where it is too late. */
  unqueue(promptKey: string): boolean {
    return this.#queue.remove(promptKey);
  }

  retryFailed(): void {
    const { failed } = this.#around;
    this.dismissFailed();
    if (failed) this.#queue.putBack(failed.prompt);
    this.#sendNext();
  }

  dismissFailed(): void {
    this.#around.failed = undefined;
    this.#refresh();
  }

  stop(): void {
    this.#around.stopping = true;
    this.#session?.cancel();
    this.#refresh();
  }

  answer(permissionId: string, optionId: string): void {
    this.#answeredHere.add(permissionId);
    this.#session?.answer(permissionId, optionId);
  }

  /** What it changes comes back as an update, to every client alike. @throws ClientError */
  async setOption(configId: string, value: string): Promise<void> {
    await this.#client.request('session/set_config_option', { sessionId: this.sessionId, configId, value });
  }

  /** Reads one more page; resolves when it is in the view. @throws ClientError */
  async older(): Promise<void> {
    await this.#readBack(OLDER_PAGE);
    this.#show();
  }

  /** Reads everything, for what needs all of it. @throws ClientError */
  async readAll(): Promise<void> {
    while (this.#around.hasOlder && !this.#isClosed) await this.#readBack(ALL_PAGE);
    this.#show();
  }

  /** Lets go of it. Nothing of it stops. */
  close(): void {
    this.#isClosed = true;
    this.#session?.close();
  }

  #show(): void {
    if (!this.#isClosed) this.view.set(this.#makeView(this.#session, { ...this.#around, queue: this.#queue.all() }));
  }

  async #open(): Promise<void> {
    const session = await this.#client.session(this.sessionId, { from: 'end' });
    if (this.#isClosed) return session.close();
    this.#session = session;
    void this.#listen(session);
    const sent = sentBefore(session);
    if (sent && session.pending) void this.#await(session.pending, sent);
    while (!(await this.#readAtFirst(session))) await caughtUp(session);
    this.#refresh();
    this.#sendNext();
  }

  /** False where the server refuses this browser: somebody may sign in, and then goes on here. */
  async #readAtFirst(session: Session): Promise<boolean> {
    try {
      await Promise.all([this.#readDetails(), this.#readEnd(session)]);
      return true;
    } catch (error) {
      if (isRefused(error)) return false;
      throw error;
    }
  }

  async #readDetails(): Promise<void> {
    this.#around.details = await this.#client.request('_pixir/session/info', { sessionId: this.sessionId });
    this.#refresh();
  }

  async #readEnd(session: Session): Promise<void> {
    await caughtUp(session);
    while (this.#around.hasOlder && session.transcript.items.length < FIRST_ITEMS) await this.#readBack(FIRST_PAGE);
  }

  async #readBack(limit: number): Promise<void> {
    if (!this.#session || !this.#around.hasOlder) return;
    this.#around.hasOlder = await this.#session.older(limit);
  }

  async #listen(session: Session): Promise<void> {
    for await (const change of session.changes()) {
      this.#hear(change, session);
      this.#refresh();
    }
  }

  #hear(change: Change, session: Session): void {
    switch (change.type) {
      case 'update':
        if (change.update.sessionUpdate === 'available_commands_update')
          this.#around.commands = change.update.availableCommands;
        return;
      case 'state':
      case 'caught_up':
        if (!session.running) this.#around.stopping = false;
        this.#sendNext();
        return;
      case 'reset':
        // Everything comes anew, from the beginning.
        this.#around.hasOlder = false;
        return;
      case 'permission_settled':
        this.#settled(change.permissionId);
        return;
      case 'closed':
        this.#around.gone = true;
        return;
      case 'permission':
        this.#asked(change.permission.permissionId);
        return;
      case 'prompt':
        return;
    }
  }

  /** Withdrawn on an earlier connection, it was not decided. */
  #asked(permissionId: string): void {
    const { decidedElsewhere } = this.#around;
    if (decidedElsewhere.has(permissionId))
      this.#around.decidedElsewhere = new Set([...decidedElsewhere].filter((other) => other !== permissionId));
  }

  #settled(permissionId: string): void {
    if (this.#answeredHere.delete(permissionId)) return;
    this.#around.decidedElsewhere = new Set([...this.#around.decidedElsewhere, permissionId]);
  }

  #sendNext(): void {
    if (!this.#session?.caughtUp || this.#session.running || this.#around.gone) return;
    const next = this.#queue.take();
    if (next) void this.#run(this.#session, next);
  }

  #run(session: Session, prompt: QueuedPrompt): Promise<void> {
    this.#around.failed = undefined;
    // What was to be stopped has ended.
    this.#around.stopping = false;
    this.#refresh();
    // Its key is from when it was queued: another tab with the same queue may send it too, and it runs once.
    return this.#await(session.prompt(prompt.content, { pixir: { promptKey: prompt.promptKey } }), prompt);
  }

  /** What becomes of a prompt, also of one that an earlier life of the page has sent; then it is the next one's turn. */
  async #await(answer: Promise<unknown>, prompt: QueuedPrompt): Promise<void> {
    try {
      await answer;
    } catch (error) {
      if (isTurnInProgress(error)) {
        // Somebody else was quicker: the end of that Turn is told.
        this.#queue.putBack(prompt);
        return;
      }
      if (!this.#isClosed) this.#around.failed = { prompt, message: messageOf(error) };
    }
    this.#refresh();
    this.#sendNext();
  }
}

/** Before it, nothing can be read backwards. */
async function caughtUp(session: Session): Promise<void> {
  if (session.caughtUp) return;
  for await (const { type } of session.changes()) if (type === 'caught_up') return;
}

/** The prompt that an earlier life of the page has left without an answer. */
function sentBefore({ transcript }: Session): QueuedPrompt | undefined {
  const item = transcript.items.find((other) => other.type === 'user' && other.pending);
  return item?.type === 'user' ? { promptKey: item.id, content: item.content } : undefined;
}

function isRefused(error: unknown): boolean {
  return error instanceof ClientError && error.reason === 'refused';
}

function isTurnInProgress(error: unknown): boolean {
  return error instanceof ClientError && (error.data as { reason?: string } | null)?.reason === 'turn_in_progress';
}

/** For people. */
function messageOf(error: unknown): string {
  if (!(error instanceof ClientError)) return 'This browser could not keep the prompt, so it was not sent.';
  switch (error.reason) {
    case 'too_large':
      return 'The prompt is too large for the server.';
    case 'refused':
      return 'The server refuses this browser.';
    case 'closed':
      return 'The Session was closed.';
    default:
      return error.message;
  }
}
