/** What the tests of MCP servers are written with: lists of servers, and their tools by name. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerSet, ToolServer } from '../../src/core/session-tools.ts';
import type { Tool, ToolContext } from '../../src/core/tool.ts';
import type { McpOptions } from '../../src/tools/mcp.ts';
import { tempDir } from '../support/temp-dir.ts';
import { mcp } from '../support/world.ts';

export const SERVER = join(import.meta.dirname, '..', 'support', 'mcp-server.ts');

type StdioServer = Extract<ToolServer, { type: 'stdio' }>;

/** The test server as a process. */
export function stdio(name: string, env: Record<string, string> = {}, args: readonly string[] = [SERVER]): StdioServer {
  const settings = Object.entries(env).map(([key, value]) => ({ name: key, value }));
  return { type: 'stdio', name, command: process.execPath, args, env: settings };
}

export const http = (
  name: string,
  url: string,
  headers: Record<string, string> = {},
  type: 'http' | 'sse' = 'http',
) => ({
  type,
  name,
  url,
  headers: Object.entries(headers).map(([key, value]) => ({ name: key, value })),
});

export const context = (own: Partial<ToolContext> = {}): ToolContext => ({
  callId: 'c',
  workspace: '/',
  additionalDirectories: [],
  signal: new AbortController().signal,
  progress() {},
  ...own,
});

/** A tool by the name that its server gives it. */
export function named(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((one) => one.name.endsWith(`__${name}`));
  assert.ok(tool, `${name} of ${tools.map((one) => one.name)}`);
  return tool;
}

/** A connected list in a workspace of its own. */
export async function open(servers: readonly ToolServer[], options: Partial<McpOptions> = {}) {
  const dir = await tempDir();
  const set: ServerSet = mcp(options)(servers, dir.path);
  const statuses = await set.connect();
  return {
    dir: dir.path,
    set,
    statuses,
    call: async (name: string, args: Record<string, unknown> = {}, own: Partial<ToolContext> = {}) =>
      named(await set.tools(), name).run(args, context({ workspace: dir.path, ...own })),
    async [Symbol.asyncDispose]() {
      await set.close();
      await dir[Symbol.asyncDispose]();
    },
  };
}

/** The process ids of the test servers that wrote into this file as they started. */
export function started(log: string): number[] {
  try {
    return [...readFileSync(log, 'utf8').matchAll(/^started (\d+)$/gm)].map(([, pid]) => Number(pid));
  } catch {
    return [];
  }
}

export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie is nobody's server.
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
