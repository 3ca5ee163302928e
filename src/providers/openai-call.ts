/**
 * One model call over HTTP, whatever the dialect: it sends the request, repeats it while nothing of the answer has
 * been seen, and closes the connection however the reader leaves. It never repeats what was already shown.
 */
import type { OpenAI } from 'openai';
import { ZodError } from 'zod';
import { CoreError, toCoreError } from '../core/errors.ts';
import type { Provider, ProviderEvent, ProviderRequest } from '../core/provider.ts';
import { invalidResponse, networkError, serverError } from './openai-errors.ts';
import { openWire, type Wire } from './openai-wire.ts';
import { type Endpoint, endpointOf, type ProviderSettings, requireKey } from './settings.ts';
import { pause } from './wait.ts';

/** Turns the chunks of one answer into events. */
export interface AnswerReader {
  /** @throws CoreError when the chunk says that the call failed; ZodError when it is not of the dialect. */
  take(chunk: unknown): ProviderEvent[];
  /** What is left when the chunks have ended; null when the answer was not complete. */
  end(): ProviderEvent[] | null;
}

/** What differs between the two APIs. */
export interface Dialect {
  /** Parameters that the call can do without, for servers that refuse them by name. */
  optional: readonly string[];
  send(client: OpenAI, request: ProviderRequest, without: ReadonlySet<string>): Promise<AsyncIterable<unknown>>;
  /** @param apiKey must appear in no message. */
  reader(request: ProviderRequest, apiKey: string | null): AnswerReader;
}

interface Call {
  endpoint: Endpoint;
  dialect: Dialect;
  request: ProviderRequest;
  /** The parameters this model's server has refused so far. */
  without: Set<string>;
}

/** A server that asks for a longer wait than this is reported instead: a person decides better what to do then. */
const LONGEST_WAIT_MS = 60_000;

export function createHttpProvider(settings: ProviderSettings, dialect: Dialect): Provider {
  const endpoint = endpointOf(settings);
  const refused = new Map<string, Set<string>>();
  return {
    stream(request, signal) {
      const without = refused.get(request.model) ?? new Set<string>();
      refused.set(request.model, without);
      return callModel({ endpoint, dialect, request, without }, signal);
    },
  };
}

async function* callModel(call: Call, signal: AbortSignal): AsyncGenerator<ProviderEvent> {
  requireKey(call.endpoint);
  for (let failures = 0; ; ) {
    let begun = false;
    try {
      for await (const event of attempt(call, signal)) {
        begun = true;
        yield event;
      }
      return;
    } catch (thrown) {
      signal.throwIfAborted();
      const error = asCoreError(thrown, call.endpoint);
      if (begun) throw error;
      if (canDoWithout(error, call)) continue;
      const wait = waitBefore(error, failures, call.endpoint);
      if (wait === null) throw error;
      failures += 1;
      await pause(wait, signal);
    }
  }
}

async function* attempt(call: Call, signal: AbortSignal): AsyncGenerator<ProviderEvent> {
  const own = new AbortController();
  const stop = AbortSignal.any([signal, own.signal]);
  const wire = openWire(call.endpoint, stop, (reason) => own.abort(reason));
  let finished = false;
  try {
    stop.throwIfAborted();
    for await (const event of answer(call, wire)) {
      stop.throwIfAborted();
      finished = event.type === 'finished';
      yield event;
      if (finished) return;
    }
  } catch (thrown) {
    // The package reports an abort in several ways, silence among them; only the signal is sure.
    stop.throwIfAborted();
    throw thrown;
  } finally {
    // Here, because who has seen `finished` usually asks for nothing more.
    if (finished) await wire.rest();
    own.abort();
  }
}

async function* answer({ endpoint, dialect, request, without }: Call, wire: Wire): AsyncGenerator<ProviderEvent> {
  const client = await createClient(endpoint, wire.fetch);
  const reader = dialect.reader(request, endpoint.apiKey);
  for await (const chunk of await dialect.send(client, request, without)) yield* reader.take(chunk);
  const rest = reader.end();
  if (!rest) throw networkError(`the answer of ${endpoint.host} ended before it was complete`);
  yield* rest;
}

/** Every option that the package would otherwise take from the environment is given. */
export async function createClient(endpoint: Endpoint, wireFetch: typeof fetch): Promise<OpenAI> {
  const { OpenAI } = await import('openai');
  return new OpenAI({
    baseURL: endpoint.baseUrl,
    // The wire sets the header itself; the package only insists that there is a key.
    apiKey: 'set-by-the-wire',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    maxRetries: 0,
    timeout: 2 ** 31 - 1,
    fetch: wireFetch,
  });
}

/** True once for each parameter that the server refused by name and that the call can do without. */
function canDoWithout(error: CoreError, call: Call): boolean {
  const { param } = error.details;
  if (error.code !== 'provider_http_error' || typeof param !== 'string') return false;
  if (!call.dialect.optional.includes(param) || call.without.has(param)) return false;
  call.without.add(param);
  return true;
}

/** The milliseconds to wait before the call is repeated, or null when it must not be. */
function waitBefore(error: CoreError, failures: number, endpoint: Endpoint): number | null {
  if (error.details.retryable !== true || failures >= endpoint.maxRetries) return null;
  const asked = Number(error.details.retryAfterMs ?? 0);
  return asked > LONGEST_WAIT_MS ? null : Math.max(asked, endpoint.retryDelayMs(failures));
}

/** What a call failed with, whoever threw it. */
export function asCoreError(thrown: unknown, endpoint: Endpoint): CoreError {
  // The package wraps what its `fetch` threw.
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    if (error instanceof CoreError) return error;
  }
  if (thrown instanceof SyntaxError) return invalidResponse('it is not JSON');
  if (thrown instanceof ZodError) return invalidResponse('it is not of this API');
  // An error event inside the stream: the package throws its body.
  const inBand = thrown instanceof Error && 'error' in thrown ? thrown.error : undefined;
  if (inBand !== undefined) return serverError(inBand, { status: null, apiKey: endpoint.apiKey });
  return toCoreError(thrown);
}
