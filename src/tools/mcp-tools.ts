/**
 * The tools of MCP servers as tools like any other. Their names never pass for one of ours, their number and what the
 * model is told of them is bounded, and what a server says of its own harmlessness counts only where the operator does.
 */
import { hash } from 'node:crypto';
import * as z from 'zod';
import type { Json } from '../core/event.ts';
import { defineTool, type Effect, type Tool } from '../core/tool.ts';
import type { Connection } from './mcp-connection.ts';
import type { OfferedTool } from './mcp-content.ts';
import { oneLine, shortTitle } from './presentation.ts';
import { checkAborted } from './workspace.ts';

const MAX_TOOLS = 100;
const MAX_SPEC_BYTES = 48_000;
const NAME_LENGTH = 64;

export interface Offer {
  server: string;
  /** What is run, or its address. */
  place: string[];
  connection: Connection;
  /** What a call of its tools may do at worst. */
  effect: Effect;
  /** The operator believes what it says of its tools. */
  trusted: boolean;
}

/** All that there is room for, sorted by name within each server, and how many of each server were left out. */
export function mcpTools(offers: readonly Offer[]): { tools: Tool[]; leftOut: Map<string, number> } {
  const tools = new Map<string, Tool>();
  const leftOut = new Map<string, number>();
  let bytes = 0;
  for (const offer of offers) {
    const offered = [...offer.connection.offered].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const one of offered) {
      const name = toolName(offer.server, one.name, tools);
      const size = Buffer.byteLength(JSON.stringify([name, one.description, one.parameters]));
      // The same name twice is the server's mistake: nobody could tell which is meant.
      if (tools.has(name) || tools.size >= MAX_TOOLS || bytes + size > MAX_SPEC_BYTES) {
        leftOut.set(offer.server, (leftOut.get(offer.server) ?? 0) + 1);
        continue;
      }
      bytes += size;
      tools.set(name, toolOf(name, one, offer));
    }
  }
  return { tools: [...tools.values()], leftOut };
}

/** What models take as a name. Where that changes it, or it is taken, a digest of the true names tells it apart. */
function toolName(server: string, tool: string, taken: ReadonlyMap<string, Tool>): string {
  const exact = `mcp__${server}__${tool}`;
  const name = exact.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  if (name === exact && name.length <= NAME_LENGTH && !taken.has(name)) return name;
  const digest = hash('sha256', JSON.stringify([server, tool]), 'hex').slice(0, 8);
  return `${name.slice(0, NAME_LENGTH - 9)}_${digest}`;
}

function toolOf(name: string, offered: OfferedTool, { server, place, connection, effect, trusted }: Offer): Tool {
  const reads = trusted && offered.readOnly;
  return defineTool({
    name,
    description: offered.description || offered.name,
    kind: reads ? 'read' : 'other',
    effect: () => (reads ? 'read' : effect),
    // The server checks its arguments itself.
    schema: z.looseObject({}),
    parameters: offered.parameters,
    title: (args) => shortTitle(name, JSON.stringify(args)),
    // Another server may come under the same name: it is not what was allowed.
    rule: (args) => ({ key: { place, args: args as Json }, text: `with ${JSON.stringify(args)}` }),
    run: (args, context) => connection.call(offered.name, args, context),
    async dryRun(_args, { signal }) {
      checkAborted(signal);
      return { ok: true, output: `would call ${oneLine(offered.name)} of the MCP server ${oneLine(server)}` };
    },
  });
}
