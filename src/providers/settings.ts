/**
 * What a provider is made from: plain values that the composer read. Nothing in this room reads the environment, so a
 * key goes only where these settings say.
 */
import { CoreError } from '../core/errors.ts';

export interface ProviderSettings {
  apiKey?: string | undefined;
  /** The API root; OpenAI's own when absent. */
  baseUrl?: string | undefined;
  fetch?: typeof fetch | undefined;
  /** How long the server may send nothing at all before the call is given up. */
  idleTimeoutMs?: number | undefined;
  /** How often a call is repeated while nothing of its answer has been seen. */
  maxRetries?: number | undefined;
  /** The wait before a repetition; `attempt` counts from 0. */
  retryDelayMs?: ((attempt: number) => number) | undefined;
  /** `scripted` only: milliseconds between two words. */
  pace?: number | undefined;
}

/** The settings of a provider that speaks HTTP, complete and checked. */
export interface Endpoint {
  baseUrl: string;
  /** For messages. */
  host: string;
  apiKey: string | null;
  fetch: typeof fetch;
  idleTimeoutMs: number;
  maxRetries: number;
  retryDelayMs: (attempt: number) => number;
}

const OPENAI_URL = 'https://api.openai.com/v1';

/** @throws CoreError `config_invalid` when the base URL cannot be one. */
export function endpointOf(settings: ProviderSettings): Endpoint {
  const url = URL.parse(settings.baseUrl || OPENAI_URL);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new CoreError('config_invalid', 'the base URL of the model server must be an http or https URL');
  }
  if (url.username || url.password) {
    throw new CoreError('config_invalid', 'the base URL of the model server must not hold a password: set the API key');
  }
  return {
    baseUrl: url.href,
    host: url.host,
    apiKey: keyOf(settings),
    fetch: settings.fetch ?? fetch,
    idleTimeoutMs: settings.idleTimeoutMs ?? 180_000,
    maxRetries: settings.maxRetries ?? 2,
    retryDelayMs: settings.retryDelayMs ?? backoff,
  };
}

/** @throws CoreError `not_authenticated` when OpenAI itself is meant and there is no key: no request could succeed. */
export function requireKey(endpoint: Endpoint): void {
  if (endpoint.apiKey || endpoint.host !== new URL(OPENAI_URL).host) return;
  throw new CoreError(
    'not_authenticated',
    'no API key: run pixir login, set OPENAI_API_KEY, or OPENAI_BASE_URL for another server that speaks this API',
  );
}

function keyOf(settings: ProviderSettings): string | null {
  const key = settings.apiKey?.trim() ?? '';
  if (/^[\x21-\x7e]*$/.test(key)) return key || null;
  throw new CoreError('config_invalid', 'the API key holds characters that no key has: copy it again');
}

// Jitter keeps many Sessions that failed together from coming back together.
function backoff(attempt: number): number {
  return Math.min(8000, 500 * 2 ** attempt) * (0.75 + Math.random() / 4);
}
