/**
 * Named tokens: one file each, `<data-dir>/tokens/NAME.json`, so that making one and revoking one are single steps of the
 * file system, beside a running server too. A file holds the digest of its token; the token itself is shown once and
 * must never be kept, printed again or logged.
 */
import { hash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { CoreError } from '../core/errors.ts';
import { scopeSchema } from '../core/principal.ts';
import { type Secret, secret } from './secret.ts';
import { publish, TOKEN_BYTES } from './token.ts';

/** What a named token begins with, so that people and scanners for leaked secrets know it when they see it. */
export const PREFIX = 'pixir_';

/** Names become file names and stand in the Log: no path, nothing invisible. */
export const tokenNameSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);

const digestSchema = z.string().regex(/^[0-9a-f]{64}$/);

const grantSchema = z.strictObject({
  owner: tokenNameSchema,
  scopes: z.array(scopeSchema).min(1),
  /** Real directories; null: any that the server allows. */
  workspaces: z.array(z.string()).min(1).nullable(),
  createdAt: z.iso.datetime(),
  /** Null: never. */
  expiresAt: z.iso.datetime().nullable(),
  /** The token by which this one was made and without which it is nothing; its name is null when it is the server's own. */
  via: z.strictObject({ name: tokenNameSchema.nullable(), sha256: digestSchema }).nullable().default(null),
});

const recordSchema = grantSchema.extend({ sha256: digestSchema });

/** What a token is good for. */
export type Grant = z.infer<typeof grantSchema>;

export interface NamedToken extends z.infer<typeof recordSchema> {
  name: string;
  /** The file as it is: a token whose file has changed is another one. */
  text: string;
}

/**
 * Makes a token. What is returned is the only copy there will ever be.
 *
 * @throws CoreError `already_exists`; `config_invalid` when it cannot be written.
 */
export function createToken(dataDir: string, name: string, grant: Grant): Secret {
  const token = PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');
  const path = fileOf(dataDir, name);
  try {
    mkdirSync(directoryOf(dataDir), { recursive: true, mode: 0o700 });
    publish(path, JSON.stringify({ ...grant, sha256: hash('sha256', token) }, null, 2));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new CoreError('already_exists', `there is a token ${name} already; revoke it first`);
    throw new CoreError('config_invalid', `${path}: cannot be created (${code})`);
  }
  return secret(token);
}

/** False when there is no such token. */
export function revokeToken(dataDir: string, name: string): boolean {
  try {
    rmSync(fileOf(dataDir, name));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Every token, expired ones included, by name. A file that cannot be read is no token, and `onError` hears of it. */
export function readTokens(dataDir: string, onError: (error: CoreError) => void): NamedToken[] {
  const names = readDirectory(directoryOf(dataDir)).flatMap((file) => file.match(/^(.+)\.json$/)?.[1] ?? []);
  return names.sort().flatMap((name) => readNamedToken(dataDir, name, onError) ?? []);
}

/** Undefined when there is no such token. */
export function readNamedToken(
  dataDir: string,
  name: string,
  onError: (error: CoreError) => void,
): NamedToken | undefined {
  const text = readText(fileOf(dataDir, name));
  if (text === undefined) return undefined;
  const record = recordSchema.safeParse(parse(text));
  if (record.success) return { ...record.data, name, text };
  onError(new CoreError('config_invalid', `${fileOf(dataDir, name)}: is no usable token file`));
  return undefined;
}

/** Whether the token may be used at this moment, in milliseconds since 1970. */
export function isCurrent({ expiresAt }: Pick<Grant, 'expiresAt'>, now: number): boolean {
  return expiresAt === null || now < Date.parse(expiresAt);
}

const directoryOf = (dataDir: string) => join(dataDir, 'tokens');
const fileOf = (dataDir: string, name: string) => join(directoryOf(dataDir), `${name}.json`);

function readDirectory(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** Undefined when there is no such file; one that cannot be read has nothing in it. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : '';
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
