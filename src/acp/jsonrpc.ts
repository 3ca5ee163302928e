/**
 * The JSON-RPC 2.0 codec: one message of text becomes one tagged value, and the reverse. Pure; it knows no method and
 * never throws on input. Sources: JSON-RPC 2.0, the ACP transport chapter, seed 002.
 */

export type RequestId = string | number | null;

/** The `error` member of a response. `message` is one short line. */
export interface ErrorObject {
  code: number;
  message: string;
  data?: unknown;
}

export type Incoming =
  | { type: 'request'; id: RequestId; method: string; params: unknown }
  | { type: 'notification'; method: string; params: unknown }
  | { type: 'response'; id: RequestId; result: unknown }
  | { type: 'error_response'; id: RequestId; error: unknown }
  /** Must be answered with this error; `id` null because the message's own cannot be trusted. */
  | { type: 'invalid'; error: ErrorObject }
  /** A well-formed envelope that means nothing to us. */
  | { type: 'ignored' };

const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const REQUEST_CANCELLED = -32800;
export const RESOURCE_NOT_FOUND = -32002;

const MAX_DEPTH = 64;
const MAX_ID_LENGTH = 256;

const invalidRequest: Incoming = { type: 'invalid', error: { code: INVALID_REQUEST, message: 'Invalid Request' } };

/** ACP has no batches: an array is refused whole, and nothing in it runs. */
export function decode(text: string): Incoming {
  if (nestsTooDeep(text)) return invalidRequest;
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return { type: 'invalid', error: { code: PARSE_ERROR, message: 'Parse error' } };
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return invalidRequest;
  const { jsonrpc, id, method, params } = message as Record<string, unknown>;
  if (jsonrpc !== '2.0') return invalidRequest;
  if (id !== undefined && !isRequestId(id)) return invalidRequest;
  if (typeof method === 'string') {
    // Absent and null params mean the same: none.
    if (id === undefined) return { type: 'notification', method, params: params ?? {} };
    return { type: 'request', id, method, params: params ?? {} };
  }
  if (method !== undefined) return invalidRequest;
  const isResponse = 'error' in message || 'result' in message;
  if (!isResponse) return invalidRequest;
  if (id === undefined || id === null) return { type: 'ignored' };
  // A message that claims both cannot be trusted to mean success.
  if ('error' in message) return { type: 'error_response', id, error: message.error };
  return { type: 'response', id, result: (message as { result: unknown }).result };
}

/** A number that JavaScript cannot hold exactly would come back as another one. */
function isRequestId(id: unknown): id is RequestId {
  if (typeof id === 'string') return id.length <= MAX_ID_LENGTH;
  return id === null || (typeof id === 'number' && Math.abs(id) <= Number.MAX_SAFE_INTEGER);
}

/** Nothing in ACP nests like this; it is only there to exhaust whoever walks it. Looked for before it is parsed. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '}' || character === ']') depth--;
    else if ((character === '{' || character === '[') && ++depth > MAX_DEPTH) return true;
  }
  return false;
}

/** Where the string that begins here ends. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '"') return at;
    if (text[at] === '\\') at++;
  }
  return text.length;
}

// The encoders return one line without its newline: ending a message is the transport's business.

export function encodeResult(id: RequestId, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: result ?? {} });
}

export function encodeError(id: RequestId, { code, message, data }: ErrorObject): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } });
}

export function encodeNotification(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

/** Requests of ours carry negative integers, so that they never look like a client's own. */
export function encodeRequest(id: number, method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}
