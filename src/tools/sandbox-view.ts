/**
 * What a confined command sees of the disk, as arguments of bubblewrap: the system read-only, its roots, programs of PATH,
 * and an empty home and /tmp of its own. What is not named here does not exist inside; nothing else may be added.
 */
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import { CoreError } from '../core/errors.ts';
import { type Roots, rootsOf } from '../core/roots.ts';
import { CREDENTIALS, isInside, SERVER_FILES } from './workspace.ts';

/** By the path inside; a deeper path is laid over the one that holds it. */
export type Mounts = Map<string, readonly string[]>;

export interface ViewOptions {
  home: string | undefined;
  path: string;
  /** Files and directories that no command may see, wherever they lie. */
  hidden: readonly string[];
  network: boolean;
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix', '/gnu'];
const RESOLVER = '/etc/resolv.conf';

/** Below the home, what programs on PATH are made of and where nobody keeps a credential. */
const TOOLCHAINS = [
  '.asdf',
  '.cargo/registry',
  '.local/share/mise/installs',
  '.local/share/uv/python',
  '.nvm/versions',
  '.pyenv',
  '.rbenv',
  '.rustup',
  '.sdkman/candidates',
  '.volta',
];

export interface View {
  /** The home as the command is told. */
  home: string;
  /** @throws CoreError `command_failed` for a root that cannot be shown without what must be hidden. */
  mounts(roots: Roots): Mounts;
}

export function createView(options: ViewOptions): View {
  const hidden = [...options.hidden, ...secretsOfRoot()].map(real);
  const home = ownHome(options.home);
  const secret = [...hidden, ...(options.home ? [real(options.home)] : [])];
  const base = systemMounts(options.network).set('/tmp', ['--tmpfs', '/tmp']).set(home, ['--tmpfs', home]);
  base.set('/var/tmp', ['--symlink', '/tmp', '/var/tmp']);
  const covers = (dir: string) => [...secret, ...base.keys()].some((path) => isInside(real(dir), path));
  const programs = programDirectories(options).filter((dir) => !covers(dir));
  return {
    home,
    mounts(given) {
      const roots = rootsOf(given);
      const holds = (dir: string) => roots.some((root) => isInside(root, dir));
      if (SYSTEM.some(holds)) throw unconfinable();
      const mounts: Mounts = new Map(base);
      for (const dir of programs) if (!holds(dir)) mounts.set(dir, ['--ro-bind', dir, dir]);
      // Where a root is itself a home or the data directory, what must be hidden in it is hidden by name.
      const within = (root: string) => [...CREDENTIALS, ...(hidden.includes(root) ? SERVER_FILES : [])];
      const named = roots.flatMap((root) => within(root).map((name) => join(root, name)));
      for (const path of [...hidden, ...named]) if (existsSync(path)) mounts.set(path, hide(path));
      for (const root of roots) mounts.set(root, ['--bind', root, root]);
      return mounts;
    },
  };
}

export function argumentsOf(mounts: Mounts): string[] {
  return [...mounts].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, args]) => args);
}

function unconfinable(): CoreError {
  const message = 'the sandbox cannot show a root of this Session: it holds a system directory';
  return new CoreError('command_failed', `${message}; work in a directory below, or set PIXIR_SANDBOX=off`);
}

function systemMounts(network: boolean): Mounts {
  const mounts: Mounts = new Map();
  for (const dir of SYSTEM) {
    const stats = lstatSync(dir, { throwIfNoEntry: false });
    if (stats)
      mounts.set(dir, stats.isSymbolicLink() ? ['--symlink', readlinkSync(dir), dir] : ['--ro-bind', dir, dir]);
  }
  // Often a link into /run, which is not there.
  const resolver = real(RESOLVER);
  if (network && resolver !== RESOLVER) mounts.set(resolver, ['--ro-bind-try', resolver, resolver]);
  return mounts;
}

function hide(path: string): string[] {
  return statSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
}

/** A server that root runs owns what only root may read: that part of /etc is no command's business. */
function secretsOfRoot(): string[] {
  if (process.getuid?.() !== 0) return [];
  return readdirSync('/etc', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o004) === 0)
    .filter((path, _, all) => !all.includes(dirname(path)));
}

/** The home's own path where an empty directory can stand there. */
function ownHome(home: string | undefined): string {
  if (!home || !isAbsolute(home) || SYSTEM.some((dir) => isInside(home, dir))) return '/tmp';
  const creatable = existsSync(home) || !SYSTEM.some((dir) => isInside(dir, home));
  return creatable ? normalize(home) : '/tmp';
}

/** What PATH names outside the system, and for `bin` directories the installation they belong to. */
function programDirectories({ home, path }: ViewOptions): string[] {
  const named = path
    .split(':')
    .filter(isAbsolute)
    .map((dir) => normalize(`${dir}/.`));
  const installations = named
    .filter((dir) => basename(dir) === 'bin' && existsSync(join(dirname(dir), 'lib')))
    .map(dirname)
    .filter((dir) => !(dirname(dir) === home && basename(dir).startsWith('.')));
  const toolchains = home ? TOOLCHAINS.map((name) => join(home, name)) : [];
  return [...named, ...installations, ...toolchains].filter(
    (dir) => existsSync(dir) && !SYSTEM.some((system) => isInside(system, dir)),
  );
}

/** Symlinks followed as far as there is something. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
