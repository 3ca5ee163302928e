/**
 * MCP servers: what clients may have started and called, and the connections of one Session's list. Nothing here ever
 * repeats a command, an address or a setting: they can hold secrets.
 */
import type { OpenServers, ServerSet, ToolServer } from '../core/session-tools.ts';
import type { Variables } from './child-env.ts';
import type { ConnectionOptions } from './mcp-connection.ts';
import { McpServer } from './mcp-server.ts';
import { mcpTools } from './mcp-tools.ts';
import type { Sandbox } from './sandbox.ts';

/** What a variable may be called that a remote client sets: any other could make the program run code of its choice. */
const CREDENTIAL = /^[A-Z][A-Z0-9_]*_(TOKEN|KEY|SECRET|PASSWORD)$/;

const TIMES = { connectMs: 10_000, silenceMs: 120_000, callMs: 600_000 };

export interface McpOptions {
  env: Variables;
  sandbox: Sandbox;
  /** Under which version we introduce ourselves. */
  version: string;
  /** The commands and origins that clients may name; null: any, because the client is who has started us. */
  allowed: { commands: readonly string[]; origins: readonly string[] } | null;
  /** Commands and origins whose word about their own tools is believed. */
  trusted: readonly string[];
  /** For tests that cannot wait so long. */
  times?: Partial<Pick<ConnectionOptions, keyof typeof TIMES>>;
}

export function createMcp({ allowed, trusted, times, ...rest }: McpOptions): OpenServers {
  const options = { ...rest, ...TIMES, ...times };
  const running = new Set<McpServer>();
  return (list, workspace) => {
    const servers = list.map((entry, index) => {
      const hasTwin = list.findIndex(({ name }) => name === entry.name) < index;
      const refused = hasTwin ? 'another MCP server of this list has its name' : refusal(entry, allowed);
      return new McpServer(entry, { workspace, options, refused, running, trusted: isListed(entry, trusted) });
    });
    return serverSet(servers);
  };
}

/** Why this server is not for the client to name, if it is not. */
function refusal(server: ToolServer, allowed: McpOptions['allowed']): string | undefined {
  if (allowed === null) return undefined;
  if (server.type !== 'stdio')
    return isListed(server, allowed.origins) ? undefined : 'its origin is not in PIXIR_MCP_ORIGINS of the server';
  if (!isListed(server, allowed.commands)) return 'its command is not in PIXIR_MCP_COMMANDS of the server';
  if (server.env.every(({ name }) => CREDENTIAL.test(name))) return undefined;
  return 'only variables that end in _TOKEN, _KEY, _SECRET or _PASSWORD may be set over the network';
}

/** By its command or origin, exactly as it is spelled: nothing is resolved that somebody could redirect. */
function isListed(server: ToolServer, list: readonly string[]): boolean {
  const place = server.type === 'stdio' ? server.command : URL.parse(server.url)?.origin;
  return place !== undefined && list.includes(place);
}

function serverSet(servers: readonly McpServer[]): ServerSet {
  const life = new AbortController();
  let last: Promise<unknown> = Promise.resolve();
  /** One thing at a time: two clients that open a Session at once must not start its servers twice. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
  const offered = () => mcpTools(servers.flatMap((server) => server.offer() ?? []));
  return {
    connect: () =>
      inTurn(async () => {
        await Promise.all(servers.map((server) => server.connect(life.signal)));
        const { leftOut } = offered();
        return servers.map((server) => server.status(leftOut));
      }),
    tools: () =>
      inTurn(async () => {
        await Promise.all(servers.map((server) => server.mend(life.signal)));
        return offered().tools;
      }),
    async close() {
      life.abort();
      await last;
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}
