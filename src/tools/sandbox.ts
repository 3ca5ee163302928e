/**
 * Confinement of what tools start: with bubblewrap where it works, found out by a trial. A program that was to be
 * confined never runs unconfined because something about the sandbox failed.
 */
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CoreError } from '../core/errors.ts';
import { type Roots, rootsOf } from '../core/roots.ts';
import { childEnv, type Variables } from './child-env.ts';
import { oneLine } from './presentation.ts';
import { createGitGuard } from './sandbox-git.ts';
import { argumentsOf, createView } from './sandbox-view.ts';

const TRIAL_MS = 10_000;

const NAMESPACES = ['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'];
/** Read-only: to root, even without capabilities, some files of /proc/sys are a way out. */
const KERNEL = ['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev'];

/**
 * For each process: 4 GiB files (in blocks of 512 bytes), 8 GiB of memory of its own (in KiB), no core dumps; and 512
 * processes together. The address space stays unlimited: node reserves far more than it uses. dash calls `-u` `-p`.
 */
const LIMITS = 'ulimit -c 0; ulimit -f 8388608; ulimit -d 8388608; ulimit -u 512 || ulimit -p 512';
const LIMITED = ['/bin/sh', '-c', `{ ${LIMITS}; } 2>/dev/null; exec "$@"`, 'sh'];

/** Node closes its own; these were left open by whoever started it. dash has no way to close those above 9. */
const CLOSE = `for fd in /proc/self/fd/*; do
  fd=\${fd##*/}
  case "$fd:$BASH_VERSION" in [0-2]:* | ??*:) ;; *) eval "exec $fd>&-" ;; esac
done`;
const OUTER_SHELL = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
const closed = (file: string) => ['-c', `${CLOSE}; exec "$@"`, 'sh', file];

export type SandboxStatus = { kind: 'bubblewrap'; file: string } | { kind: 'none'; why: string };

export interface Program {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

export interface ConfinedProgram extends Program, Disposable {
  confined: boolean;
  /** What to know when it fails, if it is confined. */
  hint?: string;
}

export interface Sandbox {
  /** What confines programs here. @throws CoreError `config_invalid` where it is required and does not work. */
  status(): Promise<SandboxStatus>;
  /**
   * The program as it is to be started so that it is confined to these roots. Dispose of it when it has ended.
   * @throws CoreError `command_failed` when one of them cannot be confined.
   */
  confine(program: Program, roots: Roots): Promise<ConfinedProgram>;
}

export interface SandboxOptions {
  mode: 'auto' | 'required' | 'off';
  network: boolean;
  /** Files and directories that no command may see. */
  hidden: readonly string[];
  /** The variables of this process. */
  env: Variables;
}

export const noSandbox: Sandbox = {
  status: async () => ({ kind: 'none', why: 'PIXIR_SANDBOX is off' }),
  confine: async (program) => ({ ...program, confined: false, [Symbol.dispose]() {} }),
};

export function createSandbox({ mode, network, hidden, env }: SandboxOptions): Sandbox {
  if (mode === 'off') return noSandbox;
  const path = childEnv(env).PATH ?? '';
  // At once, so that the trial runs beside the rest of the start.
  const found = tryBubblewrap(path);
  const guardGit = createGitGuard();
  const isolation = [...NAMESPACES, ...(network ? ['--share-net'] : []), ...KERNEL];
  let view: ReturnType<typeof createView> | undefined;
  const sandbox: Sandbox = {
    async status() {
      const status = await found;
      if (status.kind === 'none' && mode === 'required') throw unavailable(status.why);
      return status;
    },
    async confine(program, roots) {
      const status = await sandbox.status();
      if (status.kind === 'none') return noSandbox.confine(program, roots);
      view ??= createView({ home: env.HOME, path, hidden, network });
      const mounts = view.mounts(roots);
      using guards = new DisposableStack();
      for (const root of rootsOf(roots)) guards.defer(guardGit(root, mounts));
      const release = guards.move();
      const where = roots.additionalDirectories.length > 0 ? 'the workspace, the added directories' : 'the workspace';
      const inside = ['--chdir', roots.workspace, '--', ...LIMITED, program.file, ...program.args];
      return {
        file: OUTER_SHELL,
        args: [...closed(status.file), ...isolation, ...argumentsOf(mounts), '--remount-ro', '/', ...inside],
        env: { ...program.env, HOME: view.home, TMPDIR: '/tmp' },
        confined: true,
        hint: `sandboxed: ${network ? '' : 'no network; '}only ${where} (not .git/config and .git/hooks) and /tmp can be written`,
        [Symbol.dispose]: () => release.dispose(),
      };
    },
  };
  return sandbox;
}

/** Installed is not enough: many systems forbid the namespaces that it needs. */
async function tryBubblewrap(path: string): Promise<SandboxStatus> {
  const file = path
    .split(':')
    .map((dir) => join(dir, 'bwrap'))
    .find(isExecutable);
  if (!file) return { kind: 'none', why: 'bwrap is not on PATH; install the package bubblewrap' };
  try {
    const args = [...NAMESPACES, '--ro-bind', '/', '/', ...KERNEL, '--', '/bin/sh', '-c', ':'];
    await promisify(execFile)(file, args, { env: {}, timeout: TRIAL_MS });
    return { kind: 'bubblewrap', file };
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string };
    return { kind: 'none', why: `bubblewrap does not work here (${oneLine(stderr.trim() || message)})` };
  }
}

function unavailable(why: string): CoreError {
  return new CoreError('config_invalid', `PIXIR_SANDBOX is required, but ${why}`);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
