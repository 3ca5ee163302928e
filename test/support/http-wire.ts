/** A raw ACP client over Streamable HTTP: it posts in order, and opens the stream of a Session before it speaks of it. */
import { WireClient } from './wire-client.ts';

export interface HttpWire {
  client: WireClient;
  close(): Promise<void>;
}

interface Seen {
  id?: unknown;
  method?: string;
  params?: { sessionId?: unknown } | null;
  result?: { sessionId?: unknown };
}

/** Reads an event stream to its end; what came together is handed over together, as over a socket. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (data: string, id: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of body) {
    const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, id, data] = block.match(/^id: (\d+)\ndata: (.*)$/) ?? [];
      if (id !== undefined && data !== undefined) onEvent(data, id);
    }
  }
}

export function connectHttp({ url, token }: { url: string; token: string }): HttpWire {
  const client = new WireClient();
  const gone = new AbortController();
  const streams = new Map<string | undefined, Promise<void>>();
  /** The Sessions that questions of the server are about. */
  const questions = new Map<unknown, string>();
  let connectionId = '';
  let posts: Promise<unknown> = Promise.resolve();

  const ask = (method: string, headers: Record<string, string>, body?: string) =>
    fetch(`${url}/acp`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(connectionId && { 'acp-connection-id': connectionId }),
        ...headers,
      },
      signal: gone.signal,
      ...(body === undefined ? {} : { body }),
    });

  function take(text: string, sessionId?: string): void {
    const { id, method, result } = JSON.parse(text) as Seen;
    if (method !== undefined && id !== undefined && sessionId !== undefined) questions.set(id, sessionId);
    if (typeof result?.sessionId === 'string') void open(result.sessionId);
    client.receive(text);
  }

  function open(sessionId?: string): Promise<void> {
    const known = streams.get(sessionId);
    if (known !== undefined) return known;
    const opened = ask('GET', { accept: 'text/event-stream', ...(sessionId && { 'acp-session-id': sessionId }) });
    const reading = opened.then(({ body }) => body && readEvents(body, (data) => take(data, sessionId)));
    void reading.then(client.ended, client.ended);
    const ready = opened.then(() => undefined);
    streams.set(sessionId, ready);
    return ready;
  }

  async function post(text: string): Promise<void> {
    const { id, method, params } = readable(text);
    const sessionId = method === undefined ? questions.get(id) : params?.sessionId;
    const about = typeof sessionId === 'string' ? sessionId : undefined;
    if (about !== undefined) await open(about);
    const answer = await ask(
      'POST',
      { 'content-type': 'application/json', ...(about !== undefined && { 'acp-session-id': about }) },
      text,
    );
    const said = await answer.text();
    connectionId ||= answer.headers.get('acp-connection-id') ?? '';
    if (answer.status === 200) await open();
    if (said.includes('"jsonrpc"')) take(said);
  }

  client.open({
    send(text) {
      posts = posts.then(() => post(text)).catch(client.ended);
    },
    close: () => void close(),
  });
  async function close(): Promise<void> {
    if (gone.signal.aborted) return;
    await posts;
    await ask('DELETE', {}).catch(() => undefined);
    gone.abort();
    client.ended();
  }
  return { client, close };
}

/** A test may send what is no JSON. */
function readable(text: string): Seen {
  try {
    return (JSON.parse(text) ?? {}) as Seen;
  } catch {
    return {};
  }
}
