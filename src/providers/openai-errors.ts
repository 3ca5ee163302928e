/**
 * Turns what a model server answers instead of a model's output into one CoreError. A message is one short line
 * without the API key and without anything of the request; what a machine needs is in `details`.
 */
import * as z from 'zod';
import { CoreError, type ErrorCode, type ErrorDetails } from '../core/errors.ts';

/** Where an error body came from. `status` null: inside a stream that had already begun with a 200. */
interface Source {
  status: number | null;
  headers?: Headers;
  apiKey: string | null;
}

interface Fault {
  message: string;
  code: string;
  type: string;
  param: string;
  plan: string;
  resetsInSeconds: number | null;
}

const text = z.string().catch('');
const faultSchema = z.object({
  message: text,
  code: z.union([z.string(), z.number().transform(String)]).catch(''),
  type: text,
  param: text,
  plan_type: text,
  resets_in_seconds: z.number().nullable().catch(null),
});

const USAGE_LIMIT = /^(usage_limit_reached|usage_not_included|insufficient_quota|billing_hard_limit_reached)$/;
const RATE_LIMIT = /^(rate_limit_exceeded|rate_limit_error|too_many_requests)$/;
const OVERFLOW = /^(context_length_exceeded|context_window_exceeded|exceed_context_size_error)$/;
const OVERFLOW_MESSAGE = /context (length|window|size)|(prompt|input|request) is too (long|large)|too many tokens/i;
/** The families in which a stream's own error may be an overflow by its message alone. */
const REQUEST_FAULT = /invalid_?request|bad_?request|request_too_large/i;
const TRANSIENT = /^(server_is_overloaded|service_unavailable_error|server_error|overloaded|overloaded_error)$/;
const UNKNOWN_MODEL = /\bmodel\b.*\b(not supported|unsupported|not available|unavailable|does not exist|not found)\b/i;
const BAD_KEY = /^(invalid_api_key|authentication_error)$/;

/** Reads an error body of any of the shapes in use: `{error: {…}}`, `{error: "…"}`, `{detail: "…"}`, `{message}`. */
export function serverError(body: unknown, source: Source): CoreError {
  const { headers, apiKey } = source;
  const fault = readFault(body, apiKey);
  const status = source.status ?? statusOf(fault.code);
  const code = classify(fault, status);
  const details: Record<string, string | number | boolean> = {
    retryable: code === 'rate_limited' || (code === 'provider_http_error' && isTransient(fault, status)),
  };
  if (status !== null) details.status = status;
  const retryAfter = retryAfterMs(headers);
  if (retryAfter !== null) details.retryAfterMs = retryAfter;
  const names = { providerCode: fault.code || fault.type, param: fault.param, requestId: headers?.get('x-request-id') };
  for (const [key, value] of Object.entries(names)) {
    if (value && /^[\w.:[\]-]{1,80}$/.test(value)) details[key] = hide(value, apiKey);
  }
  return new CoreError(code, oneLine(humanMessage(code, fault, status, apiKey !== null)), details);
}

/** For an answer that cannot be read as the dialect it should be. */
export function invalidResponse(reason: string): CoreError {
  return new CoreError('invalid_response', `the model server sent something unexpected: ${reason}`);
}

/** @param thrown what the connection failed with; only its short system code is shown. */
export function networkError(what: string, thrown?: unknown): CoreError {
  const code = systemCode(thrown);
  const details: ErrorDetails = code ? { retryable: true, systemCode: code } : { retryable: true };
  return new CoreError('network', code ? `${what} (${code})` : what, details);
}

function readFault(body: unknown, apiKey: string | null): Fault {
  const outer = isObject(body) ? body : {};
  const inner = outer.error ?? outer.detail ?? body;
  const parsed = faultSchema.parse(isObject(inner) ? inner : { message: inner });
  const safe = (value: string) => hide(value, apiKey).slice(0, 2000);
  return {
    message: safe(parsed.message),
    code: safe(parsed.code),
    type: safe(parsed.type),
    param: safe(parsed.param),
    plan: safe(parsed.plan_type),
    resetsInSeconds: parsed.resets_in_seconds,
  };
}

function classify(fault: Fault, status: number | null): ErrorCode {
  const is = (pattern: RegExp) => pattern.test(fault.code) || pattern.test(fault.type);
  if (is(USAGE_LIMIT)) return 'usage_limit_reached';
  if (status === 401 || is(BAD_KEY)) return 'not_authenticated';
  if (status === 429 || is(RATE_LIMIT)) return 'rate_limited';
  const overflows = status === null ? is(REQUEST_FAULT) : status === 400 || status === 413;
  if (is(OVERFLOW) || (overflows && OVERFLOW_MESSAGE.test(fault.message))) return 'context_overflow';
  const unknownModel = is(/^model_not_found$/) || UNKNOWN_MODEL.test(fault.message);
  if ((status === 400 || status === 404) && unknownModel) return 'model_not_supported';
  return 'provider_http_error';
}

function isTransient(fault: Fault, status: number | null): boolean {
  if (status !== null && [500, 502, 503, 504].includes(status)) return true;
  return TRANSIENT.test(fault.code) || TRANSIENT.test(fault.type);
}

// Some servers put the status of the server behind them into a stream's error.
function statusOf(code: string): number | null {
  return /^[45]\d\d$/.test(code) ? Number(code) : null;
}

function humanMessage(code: ErrorCode, fault: Fault, status: number | null, hasKey: boolean): string {
  if (code === 'not_authenticated') {
    return hasKey
      ? 'the model server refused the API key: check OPENAI_API_KEY, or run pixir login'
      : 'the model server wants an API key: run pixir login, or set OPENAI_API_KEY';
  }
  if (code === 'usage_limit_reached' && (fault.plan || fault.resetsInSeconds !== null)) {
    const plan = fault.plan ? `of the ${fault.plan} plan ` : '';
    const when = fault.resetsInSeconds === null ? '' : `; it resets in ~${Math.ceil(fault.resetsInSeconds / 60)} min`;
    return `the usage limit ${plan}is reached${when}`;
  }
  if (fault.message) return fault.message;
  if (code === 'rate_limited') return 'the model server asks to slow down';
  return status === null ? 'the model server reported an error' : `the model server answered with status ${status}`;
}

/** A server that echoes the key does not get it into our logs. Shorter ones are words like `none`, not secrets. */
function hide(text: string, apiKey: string | null): string {
  return apiKey && apiKey.length >= 8 ? text.replaceAll(apiKey, '[key]') : text;
}

function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > 500 ? `${line.slice(0, 499)}…` : line;
}

function retryAfterMs(headers: Headers | undefined): number | null {
  const exact = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (exact >= 0) return exact;
  const value = headers?.get('retry-after') ?? '';
  const wait = /^\s*\d/.test(value) ? Number.parseFloat(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(wait) ? Math.max(0, wait) : null;
}

function systemCode(thrown: unknown): string {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    const code = 'code' in error ? error.code : undefined;
    if (typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code)) return code;
  }
  return '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
