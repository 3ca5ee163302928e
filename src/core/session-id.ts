/** The grammar of a Session id. A refused value is never echoed: it may be an attack on whoever reads the answer. */
import { CoreError } from './errors.ts';
import { newId } from './event.ts';

const MAX_BYTES = 235;

/** A new id: the time it was made, so that ids sort by age, and 64 random bits. */
export function newSessionId(now: number): string {
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+Z/g, '');
  return `${stamp}-${newId()}`;
}

/** @throws CoreError `invalid_params` with `details.reason`. Source: the original contract, section 3.2. */
export function assertSessionId(id: string): void {
  const reason = refusal(id);
  if (reason) throw new CoreError('invalid_params', 'invalid session id', { field: 'sessionId', reason });
}

function refusal(id: string): string | undefined {
  if (id === '') return 'empty';
  if (!id.isWellFormed()) return 'invalid_utf8';
  if (new TextEncoder().encode(id).length > MAX_BYTES) return 'too_long';
  if (!/^[\p{L}\p{N}_]/u.test(id)) return 'invalid_start';
  if (!/^[\p{L}\p{N}\p{M}_.-]+$/u.test(id)) return 'invalid_character';
  return undefined;
}
