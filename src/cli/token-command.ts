/** `pixir token`: credentials for other devices, people and programs. Works beside a running server, and takes effect there. */
import { realpathSync } from 'node:fs';
import { systemClock } from '../core/clock.ts';
import { CoreError } from '../core/errors.ts';
import { LOCAL, scopeSchema } from '../core/principal.ts';
import { type Command, EXIT, type Io, readArgs, UsageError } from './command.ts';
import { loadConfig } from './config.ts';
import { createToken, type Grant, isCurrent, readTokens, revokeToken, tokenNameSchema } from './tokens.ts';

const DEFAULT_SCOPES = ['observe', 'prompt', 'approve'];

/** Who else stands in a Log as the one who did something. */
const RESERVED = [LOCAL.name, 'mode', 'timeout', 'cancel', 'recovery'];

export const token: Command = {
  async run(args, io) {
    const { values, positionals } = readArgs(args, {
      allowPositionals: true,
      options: {
        scope: { type: 'string', multiple: true, default: DEFAULT_SCOPES },
        owner: { type: 'string', default: LOCAL.owner },
        workspace: { type: 'string', multiple: true },
        expires: { type: 'string' },
        'data-dir': { type: 'string' },
      },
    });
    const [action, name, ...rest] = positionals;
    if (rest.length > 0) throw new UsageError('too many arguments');
    const { dataDir } = loadConfig({ command: 'token', flags: { dataDir: values['data-dir'] } }, io.env);
    switch (action) {
      case 'create': {
        const made = createToken(dataDir, newName(name), grantOf(values));
        io.stdout.write(`${made.reveal()}\n`);
        return EXIT.done;
      }
      case 'list':
        return list(dataDir, io);
      case 'revoke':
        return revoke(dataDir, nameOf(name), io);
      default:
        throw new UsageError('token needs one of create, list, revoke');
    }
  },
};

interface Wanted {
  scope: string[];
  owner: string;
  workspace?: string[] | undefined;
  expires?: string | undefined;
}

function grantOf({ scope, owner, workspace, expires }: Wanted): Grant {
  const now = systemClock.now();
  const scopes = scopeSchema.array().safeParse([...new Set(scope)]);
  if (!scopes.success) throw new UsageError(`--scope needs one of ${scopeSchema.options.join(', ')}`);
  return {
    owner: nameOf(owner),
    scopes: scopes.data,
    workspaces: workspace?.map(realDirectory) ?? null,
    createdAt: new Date(now).toISOString(),
    expiresAt: expires === undefined ? null : new Date(now + durationOf(expires)).toISOString(),
    via: null,
  };
}

function nameOf(text: string | undefined): string {
  const name = tokenNameSchema.safeParse(text);
  if (!name.success) throw new UsageError('a name needs 1 to 64 letters, digits, dots, dashes or underscores');
  return name.data;
}

function newName(text: string | undefined): string {
  const name = nameOf(text);
  if (RESERVED.includes(name)) throw new UsageError(`the name ${name} is taken`);
  return name;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationOf(text: string): number {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? [];
  if (count === undefined) throw new UsageError('--expires needs a time like 30d, 12h or 45m');
  return Number(count) * (UNITS[unit] ?? 0);
}

/** The real path, as Sessions have it: what a symbolic link is made to name later changes nothing. */
function realDirectory(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CoreError('config_invalid', `--workspace: the directory cannot be found (${code})`);
  }
}

function list(dataDir: string, io: Io): number {
  const complain = ({ message }: CoreError) => void io.stderr.write(`pixir: ${message}\n`);
  for (const named of readTokens(dataDir, complain)) {
    const { name, owner, scopes, workspaces, createdAt, expiresAt } = named;
    const end = isCurrent(named, systemClock.now()) ? `expires ${expiresAt ?? 'never'}` : `expired ${expiresAt}`;
    const columns = [name, owner, scopes.join(','), workspaces?.join(',') ?? 'any directory', createdAt, end];
    io.stdout.write(`${columns.join('\t')}\n`);
  }
  return EXIT.done;
}

function revoke(dataDir: string, name: string, io: Io): number {
  if (revokeToken(dataDir, name)) return EXIT.done;
  io.stderr.write('pixir: there is no such token. Try: pixir token list\n');
  return EXIT.failed;
}
