/** A workspace of real files in a temporary directory, gone at the end of the test. */
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { toCoreError } from '../../src/core/errors.ts';
import type { Tool, ToolContext, ToolResult } from '../../src/core/tool.ts';
import { createTools } from '../../src/tools/index.ts';
import { createSkillFinder } from '../../src/tools/skill-files.ts';
import type { ToolWorkspace } from '../contracts/tool.ts';

export const tools = createTools({ env: process.env, findSkills: createSkillFinder() });

export class Workspace implements ToolWorkspace {
  /** What the running tools showed so far. */
  readonly shown: string[] = [];
  readonly directory: string;
  readonly additionalDirectories: readonly string[];

  constructor(directory: string, additionalDirectories: readonly string[] = []) {
    this.directory = directory;
    this.additionalDirectories = additionalDirectories;
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  context(signal: AbortSignal = new AbortController().signal): ToolContext {
    const progress: ToolContext['progress'] = (output) => this.shown.push(String(output));
    const { directory: workspace, additionalDirectories } = this;
    const client = { ask: async () => 'Blue.' };
    return { callId: 'c1', workspace, additionalDirectories, signal, progress, client };
  }

  run(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<ToolResult> {
    const tool = toolNamed(name);
    return tool.run(tool.schema.parse(args), this.context(signal));
  }

  dryRun(name: string, args: Record<string, unknown>): Promise<ToolResult> {
    const tool = toolNamed(name);
    return tool.dryRun(tool.schema.parse(args), this.context());
  }

  text(name: string): Promise<string> {
    return readFile(this.path(name), 'utf8');
  }

  async write(files: Record<string, string | Buffer>): Promise<void> {
    const write = async ([name, content]: [string, string | Buffer]) => {
      await mkdir(dirname(this.path(name)), { recursive: true });
      await writeFile(this.path(name), content);
    };
    await Promise.all(Object.entries(files).map(write));
  }

  async snapshot(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const name of (await readdir(this.directory, { recursive: true })).sort()) {
      const stats = await lstat(this.path(name));
      const content = stats.isFile() ? await readFile(this.path(name), 'base64') : '';
      const target = stats.isSymbolicLink() ? await readlink(this.path(name)) : '';
      found[name] = `${stats.mode.toString(8)} ${target}${content}`;
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}

export async function openWorkspace(files: Record<string, string | Buffer> = {}): Promise<Workspace> {
  const workspace = new Workspace(await realpath(await mkdtemp(join(tmpdir(), 'pixir-tools-'))));
  await workspace.write(files);
  return workspace;
}

export function toolNamed(name: string): Tool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool;
}

/** The error of a call that must fail, as the model would be told. */
export async function errorOf(call: Promise<unknown>) {
  try {
    await call;
  } catch (error) {
    return toCoreError(error);
  }
  throw new Error('the call did not fail');
}
