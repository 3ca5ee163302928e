/**
 * The one error type of the runtime and its closed list of codes. A message is one short line that a person may read;
 * it never carries a secret, a stack or the bytes of a hostile input.
 */

/** What the runtime itself can refuse or fail at. */
type RuntimeCode =
  | 'invalid_params'
  | 'unsupported_value'
  | 'unknown_session'
  | 'forbidden'
  | 'already_exists'
  | 'turn_in_progress'
  | 'turn_suspended'
  | 'limit_exceeded'
  | 'log_write_failed'
  | 'log_corrupt'
  | 'internal';

/** What stops the process from starting: the message says what to do. */
type StartCode = 'config_invalid' | 'data_dir_locked' | 'database_newer' | 'database_corrupt' | 'listen_failed';

/** What a model backend can fail with. The Turn turns each into content, never into a JSON-RPC error. */
type ProviderCode =
  | 'not_authenticated'
  | 'rate_limited'
  | 'usage_limit_reached'
  | 'context_overflow'
  | 'model_not_supported'
  | 'provider_http_error'
  | 'invalid_response'
  | 'network'
  | 'stream_idle_timeout';

/** What a tool call can fail with: the `kind` the model reads in a failed tool result. */
type ToolCode =
  | 'invalid_args'
  | 'unknown_tool'
  | 'outside_workspace'
  | 'protected_path'
  | 'not_found'
  | 'not_a_file'
  | 'binary_file'
  | 'too_large'
  | 'no_match'
  | 'not_unique'
  | 'patch_failed'
  | 'read_failed'
  | 'write_failed'
  | 'command_failed'
  | 'timeout'
  | 'permission_denied'
  | 'cancelled'
  | 'outcome_unknown'
  | 'client_refused'
  | 'orphan_tool_call';

export type ErrorCode = RuntimeCode | StartCode | ProviderCode | ToolCode;

export type ErrorDetails = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/** @param details facts a machine may branch on; they can reach a client, so nothing private goes in. */
export class CoreError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CoreError';
    this.code = code;
    this.details = details;
  }
}

/** Reads whatever was thrown as a CoreError; anything unexpected becomes `internal` with its cause kept for the log. */
export function toCoreError(thrown: unknown): CoreError {
  if (thrown instanceof CoreError) return thrown;
  return new CoreError('internal', 'internal error', {}, { cause: thrown });
}

/** True for the rejection that an aborted AbortSignal produces. */
export function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown.name === 'AbortError' || thrown.name === 'TimeoutError');
}

/** For the default branch of a total switch: fails to compile when a case is missing. */
export function unreachable(value: never): never {
  throw new CoreError('internal', `unhandled case ${JSON.stringify(value)}`);
}
