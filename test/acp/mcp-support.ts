/** What the tests of a Session's MCP servers are written with. */
import { join } from 'node:path';
import { call, finish, type ScriptStep, say } from '../../src/providers/script.ts';
import type { WireClient } from '../support/wire-client.ts';
import { type World, type WorldOptions, world } from '../support/world.ts';
import { started, stdio } from '../tools/mcp-support.ts';

/** As the protocol writes it: without a type. */
function listed(name: string, env: Record<string, string> = {}) {
  const { type: _, ...server } = stdio(name, env);
  return server;
}

/** A world whose servers say in a file that they were started. */
export async function stage(options: WorldOptions = {}) {
  const w = await world(options);
  const log = join(w.dir, 'log');
  const server = (name = 'a', env: Record<string, string> = {}) => listed(name, { TEST_LOG: log, ...env });
  const make = async (client: WireClient, mcpServers: unknown = [server()]) => {
    const { sessionId, _meta } = await client.request('session/new', { cwd: w.dir, mcpServers });
    return { sessionId: String(sessionId), _meta };
  };
  return { w, log, server, make, pids: () => started(log), [Symbol.asyncDispose]: () => w[Symbol.asyncDispose]() };
}

export const echo = (text: string, id = text): ScriptStep[] => [call(id, 'mcp__a__echo', { text }), finish()];
export const done: ScriptStep[] = [...say('Done.'), finish()];

/** How the calls of a Session went. */
export const results = async (w: World, sessionId: string) =>
  (await w.events(sessionId)).flatMap(({ type, data }) => (type === 'tool_result' ? [data] : []));
