/**
 * JSON-RPC over whatever connection there is at the moment: requests by id, answers in whatever order. It repeats nothing
 * by itself: a request whose connection was lost fails with `connection_lost`, and its sender knows what that means.
 */
import type { Methods, Notifications } from '../acp/wire.ts';

/** Why something that was asked for will not come. */
export type FailureReason =
  /** The connection went before the answer came. */
  | 'connection_lost'
  /** The server answered with an error; `code` and `data` are its own. */
  | 'error_response'
  /** The server refuses this client; see the client's state. */
  | 'refused'
  /** The client, or this Session, was closed. */
  | 'closed'
  /** This Session has a prompt that is not answered yet. */
  | 'prompt_pending'
  /** The server takes no frame of this size. */
  | 'too_large';

export class ClientError extends Error {
  readonly reason: FailureReason;
  /** The JSON-RPC code of an `error_response`. */
  readonly code: number | undefined;
  readonly data: unknown;

  constructor(
    reason: FailureReason,
    message: string,
    { code, data }: { code?: number | undefined; data?: unknown } = {},
  ) {
    super(message);
    this.name = 'ClientError';
    this.reason = reason;
    this.code = code;
    this.data = data;
  }
}

export type RequestId = string | number;

export interface RpcOptions {
  /** False when there is no connection. */
  send(text: string): boolean;
  /** The server asks us something. */
  onRequest(id: RequestId, method: string, params: unknown): void;
  onNotification(method: string, params: unknown): void;
}

interface Outcome<Result> {
  resolve(result: Result): void;
  reject(error: ClientError): void;
}

export interface Rpc {
  /** Calls back in the same moment in which the answer is read, before anything that follows it. */
  ask<N extends keyof Methods>(method: N, params: Methods[N]['params'], on: Outcome<Methods[N]['result']>): void;
  /** @throws ClientError `connection_lost`, `error_response`. */
  request<N extends keyof Methods>(method: N, params: Methods[N]['params']): Promise<Methods[N]['result']>;
  notify<N extends keyof Notifications>(method: N, params: Notifications[N]): void;
  respond(id: RequestId, result: unknown): void;
  refuse(id: RequestId, code: number, message: string): void;
  receive(text: string): void;
  /** The connection has gone: whoever waits is told. */
  lost(): void;
}

interface Message {
  id?: RequestId;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

export function createRpc({ send, onRequest, onNotification }: RpcOptions): Rpc {
  const waiting = new Map<RequestId, Outcome<unknown>>();
  let lastId = 0;
  const say = (message: Message) => send(JSON.stringify({ jsonrpc: '2.0', ...message }));

  function settle({ id, result, error }: Message): void {
    const asked = id === undefined ? undefined : waiting.get(id);
    if (id === undefined || !asked) return;
    waiting.delete(id);
    if (error) asked.reject(new ClientError('error_response', error.message, error));
    else asked.resolve(result);
  }

  const ask: Rpc['ask'] = (method, params, on) => {
    lastId++;
    if (!say({ id: lastId, method, params })) return on.reject(lost());
    waiting.set(lastId, on as Outcome<unknown>);
  };

  return {
    ask,
    request: (method, params) => new Promise((resolve, reject) => ask(method, params, { resolve, reject })),
    notify: (method, params) => void say({ method, params }),
    respond: (id, result) => void say({ id, result }),
    refuse: (id, code, message) => void say({ id, error: { code, message } }),
    receive(text) {
      const message = JSON.parse(text) as Message;
      if (message.method === undefined) settle(message);
      else if (message.id === undefined) onNotification(message.method, message.params);
      else onRequest(message.id, message.method, message.params);
    },
    lost() {
      const all = [...waiting.values()];
      waiting.clear();
      for (const { reject } of all) reject(lost());
    },
  };
}

function lost(): ClientError {
  return new ClientError('connection_lost', 'connection lost');
}

/** @param code of the server's, where it was the server that ended it. */
export function closed(code?: number): ClientError {
  return new ClientError('closed', 'it was closed', { code });
}
