/** The one mapping from the runtime's errors to JSON-RPC. Nothing internal passes: no stack, no path, no cause. */
import { CoreError, type ErrorCode, isAbort, toCoreError } from '../core/errors.ts';
import {
  type ErrorObject,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  REQUEST_CANCELLED,
  RESOURCE_NOT_FOUND,
} from './jsonrpc.ts';

/** A fault of the protocol itself, found before the runtime is reached. */
class ProtocolError extends Error {
  readonly error: ErrorObject;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.error = data === undefined ? { code, message } : { code, message, data };
  }
}

export const methodNotFound = (method: string) => new ProtocolError(METHOD_NOT_FOUND, 'method not found', { method });
export const notInitialized = () => new ProtocolError(INVALID_REQUEST, 'the first request must be initialize');
export const alreadyInitialized = () => new ProtocolError(INVALID_REQUEST, 'already initialized');
export const onlyObserving = () =>
  new ProtocolError(INVALID_REQUEST, 'an observer can only watch', { reason: 'observer' });
export const invalidParams = (message: string, data?: unknown) => new ProtocolError(INVALID_PARAMS, message, data);

/** Every code that is not named here is a defect to whoever reads the answer. */
const RPC_CODES: Partial<Record<ErrorCode, number>> = {
  invalid_params: INVALID_PARAMS,
  unsupported_value: INVALID_PARAMS,
  unknown_session: RESOURCE_NOT_FOUND,
  // Not -32000: to ACP clients that means to log in, which would change nothing.
  forbidden: INVALID_REQUEST,
  turn_in_progress: INVALID_REQUEST,
  limit_exceeded: INVALID_REQUEST,
  cancelled: REQUEST_CANCELLED,
};

export function toErrorObject(thrown: unknown): ErrorObject {
  if (thrown instanceof ProtocolError) return thrown.error;
  if (isAbort(thrown)) return { code: REQUEST_CANCELLED, message: 'request cancelled' };
  const { code, message, details } = toCoreError(thrown);
  const rpcCode = RPC_CODES[code];
  // The disk and what lies on it are the operator's to mend, so the client is told which of the two it is.
  if (code === 'log_write_failed' || code === 'log_corrupt')
    return { code: INTERNAL_ERROR, message, data: { reason: code } };
  if (rpcCode === undefined) return { code: INTERNAL_ERROR, message: 'internal error' };
  const data = rpcCode === INVALID_REQUEST ? { reason: code, ...details } : details;
  return { code: rpcCode, message, ...(Object.keys(data).length > 0 ? { data } : {}) };
}

/** True when the operator should hear of it: everything that a peer is told only as "internal error". */
export function isInternal(thrown: unknown): boolean {
  return toErrorObject(thrown).code === INTERNAL_ERROR && !(thrown instanceof CoreError && thrown.code !== 'internal');
}
