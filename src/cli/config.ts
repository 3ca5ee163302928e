/**
 * The configuration: flags over environment over `<data-dir>/config.json`, checked once at the start by one schema. What
 * `pixir login` stored comes after them.
 * This is the only file that reads the environment, and it must never repeat a value in an error: it may be a secret.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import * as z from 'zod';
import { CoreError } from '../core/errors.ts';
import { PERMISSION_MODES, REASONING_EFFORTS } from '../core/event.ts';
import { LIMITS, type Limits } from './limits.ts';
import { secret } from './secret.ts';

const PROVIDERS = ['openai', 'openai-chat', 'scripted'] as const;
const RECOVERIES = ['resume', 'interrupt'] as const;
const SANDBOXES = ['auto', 'required', 'off'] as const;
const SWITCH = ['off', 'on'] as const;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const text = z.string('must be text').min(1, 'must not be empty');
// Anything else cannot travel in an Authorization header.
const bearerToken = text.regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces').transform(secret);
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });
/** Where clients reach the server when that is not where it listens: the sub-path, if any, ends without a slash. */
const publicUrl = httpUrl
  .refine((url) => /^https?:[/][/][^/?#@]+([/][^?#]*)?$/.test(url), 'must have no user, query or fragment')
  .transform((url) => url.replace(/[/]+$/, ''));
const isOrigin = (value: string) => /^https?:[/][/][^*]+$/.test(value) && URL.parse(value)?.origin === value;
const origin = z.string().refine(isOrigin, 'must be origins like https://example.org');
const command = z.string().refine((value) => isAbsolute(value), 'must be absolute paths of commands');
const commandOrOrigin = z
  .string()
  .refine((value) => isAbsolute(value) || isOrigin(value), 'must be absolute paths of commands, or origins');
const address = z.string().refine(isAddressRange, 'must be IP addresses or ranges like 10.0.0.0/8');

const schema = z.object({
  dataDir: text,
  host: text.default('127.0.0.1'),
  port: integer(0, 65_535).default(7494),
  token: bearerToken.optional(),
  tokenFile: text.optional(),
  workspaces: list(':').optional(),
  provider: oneOf(PROVIDERS).optional(),
  openaiApiKey: text.transform(secret).optional(),
  openaiBaseUrl: httpUrl.optional(),
  model: text.optional(),
  models: list(',').optional(),
  reasoningEffort: oneOf(REASONING_EFFORTS).default('default'),
  permissionMode: oneOf(PERMISSION_MODES).default('auto'),
  permissionTimeoutMs: integer(1).default(1_800_000),
  turnTimeoutMs: integer(1).optional(),
  maxIterations: integer(1).optional(),
  recovery: oneOf(RECOVERIES).default('resume'),
  autoCompact: oneOf(SWITCH).default('on'),
  sandbox: oneOf(SANDBOXES).default('auto'),
  sandboxNetwork: oneOf(SWITCH).default('off'),
  // The MCP servers that clients of the network may name, and those whose read-only tools need no permission.
  mcpCommands: list(',', command).default([]),
  mcpOrigins: list(',', origin).default([]),
  mcpTrusted: list(',', commandOrOrigin).default([]),
  logLevel: oneOf(LOG_LEVELS).default('info'),
  tlsCert: text.optional(),
  tlsKey: text.optional(),
  behindProxy: list(',', address).optional(),
  publicUrl: publicUrl.optional(),
  allowedOrigins: list(',', origin).default([]),
});

const limitsSchema = z.object(
  Object.fromEntries(Object.entries(LIMITS).map(([key, value]) => [key, integer(1).default(value)])),
) as unknown as z.ZodType<Limits>;

type Settings = z.infer<typeof schema>;
type Key = keyof Settings;

/** The flags there are; which command takes which is the command's to say. */
const FLAGS: Partial<Record<Key, string>> = {
  dataDir: '--data-dir',
  host: '--host',
  port: '--port',
  workspaces: '--workspace',
  permissionMode: '--permission-mode',
  tlsCert: '--tls-cert',
  tlsKey: '--tls-key',
  behindProxy: '--behind-proxy',
  publicUrl: '--public-url',
};

const KEYS: ReadonlySet<string> = new Set([...Object.keys(schema.shape), ...Object.keys(LIMITS)]);

/** In the environment a key is its name after PIXIR_, but for what the openai package names. */
function variableOf(key: string): string {
  if (key === 'openaiApiKey') return 'OPENAI_API_KEY';
  if (key === 'openaiBaseUrl') return 'OPENAI_BASE_URL';
  return `PIXIR_${key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** Settings that name a file. */
const FILES = ['tokenFile', 'tlsCert', 'tlsKey'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Every setting with its default applied; paths are absolute. What has no default is absent when not set. */
export type Config = Readonly<
  Omit<Settings, 'workspaces' | 'provider'> & {
    provider: (typeof PROVIDERS)[number];
    /** Directories under which Sessions may work; null: any. */
    workspaces: readonly string[] | null;
    limits: Limits;
  }
>;

type FrontDoor = 'tlsCert' | 'tlsKey' | 'behindProxy' | 'publicUrl';

export interface ConfigInput {
  /** The default of `workspaces` depends on it. */
  command: string;
  /** As the command line gave them; an absent flag is undefined. */
  flags?: { [K in 'dataDir' | 'host' | 'port' | 'permissionMode' | FrontDoor]?: string | undefined } & {
    workspaces?: readonly string[] | undefined;
  };
  cwd?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The process's own environment, for whoever hands it on. */
export const environment: Environment = process.env;

/** @throws CoreError `config_invalid`, naming each bad key and where it came from. */
export function loadConfig(input: ConfigInput, env: Environment = environment): Config {
  const { command, flags = {}, cwd = process.cwd() } = input;
  const dataDir = flags.dataDir ?? (env.PIXIR_DATA_DIR || defaultDataDir(env));
  const found = gather(flags, env, cwd, resolve(cwd, dataDir));

  const values = Object.fromEntries([...found].map(([key, { value }]) => [key, value]));
  const parsed = schema.safeParse({ ...values, dataDir });
  const limits = limitsSchema.safeParse(values);
  if (!parsed.success || !limits.success)
    throw invalid([...(parsed.error?.issues ?? []), ...(limits.error?.issues ?? [])], found);
  const settings = parsed.data;

  const absolute = (key: Key, path: string) => resolve(found.get(key)?.base ?? cwd, path);
  const provider = settings.provider ?? (settings.openaiApiKey || settings.openaiBaseUrl ? 'openai' : 'scripted');
  const workspaces = settings.workspaces?.map((path) => absolute('workspaces', path));
  const absoluteFiles = Object.fromEntries(
    FILES.flatMap((key) => (settings[key] === undefined ? [] : [[key, absolute(key, settings[key])]])),
  );

  return Object.freeze({
    ...settings,
    dataDir: resolve(cwd, dataDir),
    ...absoluteFiles,
    limits: Object.freeze(limits.data),
    provider,
    workspaces: workspaces ?? defaultWorkspaces(command, provider, resolve(cwd, dataDir), cwd),
  });
}

/** Anything but a server is started by the person or editor that decides where it works. */
function defaultWorkspaces(
  command: string,
  provider: Config['provider'],
  dataDir: string,
  cwd: string,
): string[] | null {
  if (command !== 'serve') return null;
  return [provider === 'scripted' ? join(dataDir, 'playground') : cwd];
}

/** The XDG base directory rules: a relative path in the variable counts as none. */
function defaultDataDir(env: Environment): string {
  const base = env.XDG_DATA_HOME;
  return join(base && isAbsolute(base) ? base : join(env.HOME || homedir(), '.local', 'share'), 'pixir');
}

interface Found {
  value: unknown;
  /** The key as its source calls it, and the source. */
  origin: string;
  /** What a relative path is relative to: the file that says it, or where the person stands who typed it. */
  base: string;
}

/** Where `pixir login` keeps the API key. */
export const storedKeyFile = (dataDir: string) => join(dataDir, 'provider-key');

/** Picks for each key the first source that has it. */
function gather(flags: object, env: Environment, cwd: string, dataDir: string): Map<PropertyKey, Found> {
  const file = join(dataDir, 'config.json');
  const written = readConfigFile(file);
  const stored = readText(storedKeyFile(dataDir))?.trim();
  const found = new Map<PropertyKey, Found>();
  for (const key of KEYS) {
    const variable = variableOf(key);
    const candidates: Found[] = [
      { value: flags[key as keyof typeof flags], origin: `${FLAGS[key as Key]} (flag)`, base: cwd },
      { value: env[variable] || undefined, origin: `${variable} (environment)`, base: cwd },
      { value: written[key], origin: `${key} (${file})`, base: dirname(file) },
      { value: (key === 'openaiApiKey' && stored) || undefined, origin: storedKeyFile(dataDir), base: dataDir },
    ];
    const first = candidates.find(({ value }) => value !== undefined);
    if (first) found.set(key, first);
  }
  return found;
}

/** Undefined when there is no such file. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CoreError('config_invalid', `${path}: cannot be read (${code})`);
  }
}

function readConfigFile(path: string): Record<string, unknown> {
  const content = readText(path);
  if (content === undefined) return {};
  const settings = parseObject(content);
  if (!settings) throw new CoreError('config_invalid', `${path}: must be one JSON object`);
  // The data directory is where this file was found, so the file cannot name it.
  const unknown = Object.keys(settings).filter((key) => key === 'dataDir' || !KEYS.has(key));
  if (unknown.length > 0) throw new CoreError('config_invalid', `${unknown.join(', ')} (${path}): unknown key`);
  return settings;
}

function parseObject(content: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The parser's message quotes the text around the error, which may hold a secret.
  }
  return undefined;
}

function invalid(issues: readonly z.core.$ZodIssue[], found: ReadonlyMap<PropertyKey, Found>): CoreError {
  const lines = issues.map(({ path, message }) => `${found.get(path[0] ?? '')?.origin}: ${message}`);
  return new CoreError('config_invalid', [...new Set(lines)].join('; '));
}

function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, `must be one of ${values.join(', ')}`);
}

/** A whole number, written as a number or, as flags and the environment have it, in digits. */
function integer(min: number, max = Number.MAX_SAFE_INTEGER) {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  const message = `must be a whole number ${range}`;
  const digits = (value: unknown) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value);
  return z.preprocess(digits, z.int(message).min(min, message).max(max, message));
}

/** `10.1.2.3`, `fd00::/8`. */
function isAddressRange(value: string): boolean {
  const [ip = '', prefix, ...more] = value.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(ip)] ?? -1;
  return (
    more.length === 0 && bits > 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
  );
}

/** A list, or text with a separator between its entries. */
function list(separator: string, entry: z.ZodType<string> = text) {
  const message = `must be a list, or text separated by "${separator}"`;
  const split = (value: unknown) =>
    typeof value === 'string' ? value.split(separator).flatMap((entry) => entry.trim() || []) : value;
  return z.preprocess(split, z.array(entry, message).min(1, 'must not be empty'));
}
