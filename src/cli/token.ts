/** The server's own bearer token: found or made. It must never be printed or logged. */
import { randomBytes, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CoreError } from '../core/errors.ts';
import type { Config } from './config.ts';
import { type Secret, secret } from './secret.ts';

export const TOKEN_BYTES = 32;

/**
 * The configured token, or the one in the data directory, which is made when there is none.
 *
 * @throws CoreError `config_invalid` when a token file is missing, unreadable, empty or open to other users.
 */
export function loadToken(config: Pick<Config, 'dataDir' | 'token' | 'tokenFile'>): Secret {
  if (config.token) return config.token;
  if (config.tokenFile !== undefined) return readToken(config.tokenFile);
  const path = join(config.dataDir, 'token');
  createToken(config.dataDir, path);
  refuseIfShared(path);
  return readToken(path);
}

/** Makes the file unless there is one. */
function createToken(dataDir: string, path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false })) return;
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    publish(path, randomBytes(TOKEN_BYTES).toString('base64url'));
  } catch (error) {
    // Another process was faster: its token counts.
    if (codeOf(error) === 'EEXIST') return;
    throw new CoreError('config_invalid', `${path}: cannot be created (${codeOf(error)})`);
  }
}

/** The file appears complete or not at all, and never in place of another, whoever else does the same right now. */
export function publish(path: string, content: string): void {
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${content}\n`, { flag: 'wx', mode: 0o600, flush: true });
    linkSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Closing the file silently would hide that others may have read the token already. */
function refuseIfShared(path: string): void {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return;
  const advice = `delete it for a new token, or run: chmod 600 ${path}`;
  throw new CoreError('config_invalid', `${path}: other users can read the token; ${advice}`);
}

function readToken(path: string): Secret {
  let token: string;
  try {
    token = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new CoreError('config_invalid', `${path}: the token cannot be read (${codeOf(error)})`);
  }
  // Anything else could not be sent in an Authorization header.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new CoreError('config_invalid', `${path}: holds no usable token`);
  return secret(token);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}
