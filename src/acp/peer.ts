/**
 * One connected client: decodes what it sends, dispatches by the method table, correlates requests both ways. It holds
 * no Session state; when it goes, nothing but its Feeds goes with it.
 */
import type { ClientCapabilities } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import type { ClientServices } from '../core/client-services.ts';
import { answer } from '../core/conversation.ts';
import { limitExceeded } from '../core/limits.ts';
import type { Principal } from '../core/principal.ts';
import type { PendingPermission } from '../core/session-state.ts';
import type { Agent } from './agent.ts';
import { ClientRequests } from './client-requests.ts';
import { servicesOf } from './client-services.ts';
import type { Connection, OpenPrompt } from './connection.ts';
import {
  alreadyInitialized,
  invalidParams,
  isInternal,
  methodNotFound,
  notInitialized,
  toErrorObject,
} from './errors.ts';
import type { FeedSink } from './feed-ports.ts';
import { Feeds } from './feeds.ts';
import { beat } from './heartbeat.ts';
import { decode, encodeError, encodeNotification, encodeResult, type Incoming, type RequestId } from './jsonrpc.ts';
import { type ListWatch, listWatch } from './list-watch.ts';
import type { Method, MethodContext } from './method.ts';
import { METHODS } from './methods/index.ts';
import { type Pace, watchPace } from './slow.ts';
import { permissionOutcome, permissionRequest } from './translate.ts';
import type { Receiver, Transport } from './transport.ts';
import type { SessionClosed } from './wire.ts';

type Stage = { kind: 'new' } | { kind: 'ready'; capabilities: ClientCapabilities } | { kind: 'closed' };

const PROTOCOL_ERROR = 4400;

const cancelRequestSchema = z.object({ requestId: z.union([z.string(), z.number(), z.null()]) });

/** Opens a Peer on a transport. */
export function openPeer(agent: Agent, transport: Transport, principal: Principal): Receiver {
  return new Peer(agent, transport, principal);
}

class Peer implements Receiver, Connection, FeedSink {
  readonly principal: Principal;
  readonly #agent: Agent;
  readonly #transport: Transport;
  #stage: Stage = { kind: 'new' };
  /** The client's requests that are being handled, by id. */
  readonly #handling = new Map<RequestId, AbortController>();
  /** The answers that are still owed. */
  readonly #owed = new Set<Promise<void>>();
  readonly #requests: ClientRequests;
  /** The client's terminals that have not been released. */
  readonly #terminals = new Set<string>();
  readonly feeds: Feeds;
  readonly listWatch: ListWatch;
  readonly #pace: Pace;
  /** Stops what runs by the clock: until `initialize` its deadline, from then on the heartbeat. */
  #stopTimer = () => {};
  readonly #prompts = new Map<string, Set<OpenPrompt>>();

  constructor(agent: Agent, transport: Transport, principal: Principal) {
    this.#agent = agent;
    this.#transport = transport;
    this.principal = principal;
    this.feeds = new Feeds(agent, principal, this);
    this.listWatch = listWatch(agent, principal, this);
    this.#requests = new ClientRequests(agent.runtime.clock, (frame) => this.send(frame));
    this.#pace = watchPace(agent.runtime.clock, transport, () => this.feeds.kick());
    const { initializeTimeoutMs } = agent.limits;
    if (initializeTimeoutMs !== null)
      this.#stopTimer = agent.runtime.clock.after(initializeTimeoutMs, () =>
        transport.close(PROTOCOL_ERROR, 'no initialize'),
      );
  }

  receive(text: string): void {
    if (this.#stage.kind === 'closed') return;
    const message = decode(text);
    switch (message.type) {
      case 'request':
        this.#owe(this.#handle(message));
        return;
      case 'notification':
        void this.#notice(message.method, message.params);
        return;
      case 'response':
      case 'error_response':
        this.#requests.settle(message.id, message);
        return;
      case 'invalid':
        this.#transport.send(encodeError(null, message.error));
        return;
      case 'ignored':
        return;
    }
  }

  draining(): void {
    if (this.feeds.cursors) this.send(encodeNotification('_pixir/server/draining', {}));
  }

  async idle(): Promise<void> {
    while (this.#owed.size > 0) await Promise.all(this.#owed);
  }

  /** Only detaches: Sessions and their Turns go on without this client. */
  closed(): void {
    this.#stage = { kind: 'closed' };
    // What it asked for is not aborted: a client that goes away has not cancelled anything.
    this.feeds.end();
    this.listWatch.end();
    this.#stopTimer();
    this.#pace.end();
    this.#requests.end();
  }

  #owe(answer: Promise<void>): void {
    this.#owed.add(answer);
    void answer.finally(() => this.#owed.delete(answer));
  }

  async #handle({ id, method: name, params }: Extract<Incoming, { type: 'request' }>): Promise<void> {
    const controller = new AbortController();
    const afterwards: (() => void)[] = [];
    const { promise: answered, resolve: settle } = Promise.withResolvers<void>();
    try {
      const method = this.#find(name, 'request', id);
      // A cancel with a blank id is a notification by a client that does not know better: it gets no answer.
      if (method.kind === 'notification') return void (await this.#notice(name, params));
      if (this.#stage.kind === 'new' && name !== 'initialize') throw notInitialized();
      // Everything so far happened in the tick of its arrival: this one is not among the owed.
      const { requestsInFlight } = this.#agent.limits;
      if (this.#owed.size >= requestsInFlight) throw limitExceeded('requests_in_flight', requestsInFlight);
      this.#handling.set(id, controller);
      const afterAnswer = (action: () => void) => void afterwards.push(action);
      const result = await this.#call(method, params, { signal: controller.signal, afterAnswer, answered });
      this.send(encodeResult(id, result));
      for (const action of afterwards) action();
    } catch (error) {
      if (isInternal(error)) this.#agent.onError(error);
      this.send(encodeError(id, toErrorObject(error)));
    } finally {
      if (this.#handling.get(id) === controller) this.#handling.delete(id);
      settle();
    }
  }

  /** Nothing that a notification causes is ever answered. */
  async #notice(name: string, params: unknown): Promise<void> {
    if (this.#stage.kind !== 'ready') return;
    if (name === '$/cancel_request') return this.#cancelRequest(params);
    const method = METHODS.get(name);
    if (method?.kind !== 'notification') return;
    try {
      const nobody = { afterAnswer: (action: () => void) => action(), answered: Promise.resolve() };
      await this.#call(method, params, { signal: new AbortController().signal, ...nobody });
    } catch (error) {
      if (isInternal(error)) this.#agent.onError(error);
    }
  }

  #find(name: string, kind: Method['kind'], id: RequestId): Method {
    const method = METHODS.get(name);
    const blank = typeof id === 'string' && id.trim() === '';
    if (!method || (method.kind !== kind && !blank)) throw methodNotFound(name.slice(0, 128));
    return method;
  }

  async #call(method: Method, params: unknown, request: Omit<MethodContext, 'agent' | 'connection'>): Promise<unknown> {
    const parsed = method.params.safeParse(params);
    if (!parsed.success) {
      const issues = parsed.error.issues.slice(0, 8).map(({ path, message }) => ({ path: path.join('.'), message }));
      const [first] = issues;
      const text = first ? `${first.path ? `${first.path}: ` : ''}${first.message}` : 'they do not fit';
      throw invalidParams(`invalid params: ${text}`, { issues });
    }
    return method.handle(parsed.data, { agent: this.#agent, connection: this, ...request });
  }

  #cancelRequest(params: unknown): void {
    const parsed = cancelRequestSchema.safeParse(params);
    if (parsed.success) this.#handling.get(parsed.data.requestId)?.abort();
  }

  // Connection

  get notices(): boolean {
    return this.#stage.kind === 'ready' && this.#stage.capabilities.session?.notices != null;
  }

  initialize(capabilities: ClientCapabilities): void {
    if (this.#stage.kind !== 'new') throw alreadyInitialized();
    this.#stage = { kind: 'ready', capabilities };
    const asked = capabilities._meta?.pixir as { cursor?: unknown } | undefined;
    this.feeds.cursors = asked?.cursor === 1;
    this.feeds.compaction = capabilities.session?.compaction != null;
    this.#stopTimer();
    if (this.feeds.cursors) this.#stopTimer = beat(this.#agent.runtime.clock, () => this.#sendHeads());
  }

  services(sessionId: string): ClientServices {
    if (this.#stage.kind !== 'ready') return {};
    return servicesOf(this.#stage.capabilities, {
      sessionId,
      requests: this.#requests,
      terminals: this.#terminals,
      answerMs: this.#agent.runtime.settings.permissionTimeoutMs,
    });
  }

  prompts(sessionId: string): Set<OpenPrompt> {
    const open = this.#prompts.get(sessionId) ?? new Set();
    this.#prompts.set(sessionId, open);
    return open;
  }

  // FeedSink

  send(frame: string): void {
    if (this.#stage.kind !== 'closed') this.#transport.send(frame);
  }

  congested(): boolean {
    return this.#pace.congested();
  }

  ask(sessionId: string, permission: PendingPermission): () => void {
    const request = permissionRequest(sessionId, permission);
    return this.#requests.ask('session/request_permission', request, (reply) => {
      if (reply.type === 'gone') return;
      const result = reply.type === 'response' ? reply.result : undefined;
      const decision = { permissionId: permission.permissionId, ...permissionOutcome(result, request) };
      answer(this.#agent.runtime, this.principal, sessionId, decision).catch(this.#agent.onError);
    });
  }

  hasTerminal(terminalId: string): boolean {
    return this.#terminals.has(terminalId);
  }

  fail(error: unknown): void {
    this.#agent.onError(error);
    this.#transport.close(4500, 'the log could not be read');
  }

  gone(sessionId: string): void {
    this.feeds.detach(sessionId);
    const said: SessionClosed = { sessionId, reason: 'deleted' };
    this.send(encodeNotification('_pixir/session/closed', said));
  }

  /** Tells a client that follows cursors where its Sessions are: it notices when it is behind, and that we live. */
  async #sendHeads(): Promise<void> {
    this.send(encodeNotification('_pixir/heartbeat', { heads: await this.feeds.heads() }));
  }
}
