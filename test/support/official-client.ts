/** The official SDK's client with none of our extensions: an editor as plain as it can be, whose every frame is checked. */
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client';
import { WebSocket } from 'ws';
import { environmentFor, startPixir, startServer } from './processes.ts';
import { checkFrame } from './schema.ts';

/** A stream to the server at this address. `socket` hears of what carries it, for a test that disturbs the network. */
export function webSocketStream(
  { url, token }: { url: string; token: string },
  socket: (socket: WebSocket) => void = () => undefined,
): acp.Stream {
  class Observed extends WebSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args);
      socket(this);
    }
  }
  return createWebSocketStream(`${url.replace('http', 'ws')}/acp`, {
    WebSocket: Observed as never,
    headers: { authorization: `Bearer ${token}` },
  });
}

/** Opens a stream to a real process of ours; the next one is to the next process over the same data. */
export type Open = (stack: AsyncDisposableStack, dataDir: string, env: Record<string, string>) => Promise<acp.Stream>;

const overStdio: Open = async (stack, dataDir, env) => {
  const { child } = stack.use(startPixir(['acp'], environmentFor(dataDir, env)));
  const input = Writable.toWeb(child.stdin as Writable) as WritableStream<Uint8Array>;
  const output = Readable.toWeb(child.stdout as Readable) as ReadableStream<Uint8Array>;
  return acp.ndJsonStream(input, output);
};

const overWebSocket: Open = async (stack, dataDir, env) => {
  const server = stack.use(await startServer(dataDir, env, ['--workspace', dataDir]));
  return webSocketStream(server);
};

export const TRANSPORTS = [
  ['stdio', overStdio],
  ['WebSocket', overWebSocket],
] as const;

/** The same stream, with every frame that we send checked against the official schema on its way. */
export function checked({ readable, writable }: acp.Stream): acp.Stream {
  const methods = new Map<unknown, string>();
  const outgoing = new TransformStream<acp.AnyMessage, acp.AnyMessage>({
    transform(message, controller) {
      if ('id' in message && 'method' in message) methods.set(message.id, message.method);
      controller.enqueue(message);
    },
  });
  const incoming = new TransformStream<acp.AnyMessage, acp.AnyMessage>({
    transform(message, controller) {
      checkFrame(JSON.stringify(message), (id) => methods.get(id));
      controller.enqueue(message);
    },
  });
  void outgoing.readable.pipeTo(writable).catch(() => undefined);
  return { readable: readable.pipeThrough(incoming), writable: outgoing.writable };
}

type OnPermission = (
  request: acp.RequestPermissionRequest,
  signal: AbortSignal,
) => Promise<acp.RequestPermissionResponse>;

/** An editor, as small as it can be: it keeps the updates and answers what it is asked. */
export function editor(updates: acp.SessionUpdate[], onPermission: OnPermission) {
  return acp
    .client({ name: 'interop' })
    .onNotification(acp.methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(acp.methods.client.session.requestPermission, ({ params, signal }) => onPermission(params, signal));
}

export const allow: acp.RequestPermissionResponse = { outcome: { outcome: 'selected', optionId: 'allow' } };

/** What the agent has said. */
export const textOf = (updates: acp.SessionUpdate[]) =>
  updates
    .map((update) =>
      update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? update.content.text : '',
    )
    .join('');
