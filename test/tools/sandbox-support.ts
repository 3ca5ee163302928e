/** A confined bash, and what it must not reach. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ToolContext } from '../../src/core/tool.ts';
import { createTools } from '../../src/tools/index.ts';
import { createSandbox, type SandboxOptions } from '../../src/tools/sandbox.ts';
import { tempDir } from '../support/temp-dir.ts';

export const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
const { kind } = await createSandbox({ mode: 'auto', network: false, hidden: [], env: { PATH } }).status();
/** For tests that need it. */
export const options = { skip: kind === 'none' ? 'no bubblewrap' : false };

/** A home with a secret, a data directory with another, and a workspace that is a repository where the test says so. */
export async function ground(given: Partial<SandboxOptions> = {}) {
  const dir = await tempDir();
  const [home, data, workspace] = ['home', 'data', 'work'].map((name) => join(dir.path, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [join(home, '.ssh'), data, workspace]) mkdirSync(path, { recursive: true });
  writeFileSync(join(home, '.ssh/id'), 'canary');
  writeFileSync(join(data, 'token'), 'canary');
  const env = { HOME: home, PATH, OPENAI_API_KEY: 'canary' };
  const bashIn = (options: Partial<SandboxOptions> = {}) => {
    const sandbox = createSandbox({ mode: 'required', network: false, hidden: [data], env, ...given, ...options });
    const tool = createTools({ env: options.env ?? env, sandbox }).find(({ name }) => name === 'bash');
    assert.ok(tool);
    return (command: string, { timeout, ...context }: Partial<ToolContext> & { timeout?: number } = {}) =>
      tool.run(
        { command, timeout_ms: timeout },
        {
          callId: 'c1',
          workspace,
          additionalDirectories: [],
          signal: new AbortController().signal,
          progress() {},
          ...context,
        },
      );
  };
  const bash = bashIn();
  const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace, stdio: 'pipe' });
  /** What it says on success; it must succeed. */
  const says = async (command: string) => {
    const { ok, output } = await bash(command);
    assert.ok(ok, output);
    return output.trim();
  };
  return {
    dir: dir.path,
    env,
    home,
    data,
    workspace,
    bash,
    bashIn,
    says,
    git,
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}

/** Another process that runs one confined command and shows its progress; with a file open that nobody asked for. */
export function startHost({ env, workspace }: { env: Record<string, string>; workspace: string }, command: string) {
  const script = `
    import { createTools } from '${import.meta.resolve('../../src/tools/index.ts')}';
    import { createSandbox } from '${import.meta.resolve('../../src/tools/sandbox.ts')}';
    const env = ${JSON.stringify(env)};
    const sandbox = createSandbox({ mode: 'required', network: false, hidden: [], env });
    const bash = createTools({ env, sandbox }).find(({ name }) => name === 'bash');
    const signal = new AbortController().signal;
    const context = { workspace: '${workspace}', additionalDirectories: [], signal, progress: (shown) => process.stdout.write(shown) };
    await bash.run({ command: ${JSON.stringify(command)} }, context);`;
  const node = [process.execPath, '--input-type=module', '--eval', script];
  return spawn('bash', ['-c', 'exec 200</etc/passwd; exec "$@"', 'bash', ...node], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** The processes of this machine whose command line holds the text. */
export function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text);
    } catch {
      return false;
    }
  });
}
