/**
 * The HTTP side of one call: what the openai package gets for `fetch`. It sends the key to the configured server and
 * nowhere else, adds nothing from the environment, and watches that bytes keep coming.
 */
import { CoreError } from '../core/errors.ts';
import { invalidResponse, networkError, serverError } from './openai-errors.ts';
import type { Endpoint } from './settings.ts';

export interface Wire {
  fetch: typeof fetch;
  /** Reads what is left after the answer, for a moment: only a connection read to its end can be used again. */
  rest(): Promise<void>;
}

/** What is expected of the server: a stream of events, or one document. */
type Media = 'text/event-stream' | 'application/json';

const ERROR_BODY_LIMIT = 16_384;
const REST_MS = 250;

/** @param stop closes the request. @param giveUp is called when the server has been silent for too long. */
export function openWire(
  endpoint: Endpoint,
  stop: AbortSignal,
  giveUp: (reason?: CoreError) => void,
  media: Media = 'text/event-stream',
): Wire {
  let body: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const watched = <T>(work: Promise<T>): Promise<T> =>
    within(endpoint.idleTimeoutMs, work, () => giveUp(silence(endpoint)));

  async function guardedFetch(url: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request: RequestInit = {
      method: init?.method ?? 'POST',
      headers: headersOf(endpoint, media),
      body: init?.body ?? null,
      // A redirect would carry the prompt, and perhaps the key, to a server nobody configured.
      redirect: 'manual',
      // Not the package's own signal: it would drop the connection where we read it to its end.
      signal: stop,
    };
    const response = await watched(endpoint.fetch(url, request)).catch((thrown) => {
      throw networkError(`cannot reach ${endpoint.host}`, thrown);
    });
    if (!holds(media, response)) throw await watched(refusal(response, endpoint, media));
    body = response.body.getReader();
    return new Response(relay(body, watched, endpoint), { headers: { 'content-type': media } });
  }

  return {
    fetch: guardedFetch,
    rest: () => (body ? within(REST_MS, readToEnd(body), giveUp) : Promise.resolve()),
  };
}

// A closed list, so that neither the package nor its environment variables can add to it.
function headersOf(endpoint: Endpoint, media: Media): Record<string, string> {
  const headers = { 'content-type': 'application/json', accept: media, 'user-agent': 'pixir' };
  return endpoint.apiKey ? { ...headers, authorization: `Bearer ${endpoint.apiKey}` } : headers;
}

function holds(media: Media, response: Response): response is Response & { body: NonNullable<Response['body']> } {
  if (!response.ok || !response.body) return false;
  // Servers are careless with this header; these types surely hold something else.
  const other = media === 'application/json' ? /text\/html/ : /application\/json|text\/html/;
  return !other.test(response.headers.get('content-type') ?? '');
}

/** Hands the bytes on as they are asked for, so that only the server's silence counts and never the reader's. */
function relay(
  body: ReadableStreamDefaultReader<Uint8Array>,
  watched: <T>(work: Promise<T>) => Promise<T>,
  endpoint: Endpoint,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await watched(body.read()).catch((thrown) => {
          throw networkError(`the connection to ${endpoint.host} broke off`, thrown);
        });
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

async function refusal(response: Response, endpoint: Endpoint, media: Media): Promise<CoreError> {
  const { status, headers } = response;
  const body = parsed(await boundedText(response));
  if (status >= 300 && status < 400) {
    const message = `${endpoint.host} redirects to another address: set the base URL to that address`;
    return new CoreError('provider_http_error', message, { status, retryable: false });
  }
  if (!response.ok) return serverError(body, { status, headers, apiKey: endpoint.apiKey });
  const saysError = typeof body === 'object' && body !== null && 'error' in body && body.error;
  if (saysError) return serverError(body, { status: null, headers, apiKey: endpoint.apiKey });
  const wanted = media === 'application/json' ? 'JSON' : 'an event stream';
  return invalidResponse(`${endpoint.host} did not answer with ${wanted}`);
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= ERROR_BODY_LIMIT) break;
  }
  return text.slice(0, ERROR_BODY_LIMIT);
}

/** The JSON of an error body; a body that is not JSON is shown only when it is not a web page. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.trimStart().startsWith('<') ? undefined : text;
  }
}

async function readToEnd(body: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await body.read()).done);
  } catch {
    // The answer was complete: how its connection ends changes nothing.
  }
}

async function within<T>(ms: number, work: Promise<T>, late: () => void): Promise<T> {
  const timer = setTimeout(late, ms);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

function silence(endpoint: Endpoint): CoreError {
  const timeoutMs = endpoint.idleTimeoutMs;
  return new CoreError('stream_idle_timeout', `${endpoint.host} sent nothing for ${timeoutMs / 1000} s`, { timeoutMs });
}
