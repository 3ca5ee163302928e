/**
 * One connection to an MCP server, and what is asked over it. Whatever the server does, an answer or a CoreError comes
 * in time, and no error repeats what the server or its settings say of themselves.
 */
import { once } from 'node:events';
import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
} from '@modelcontextprotocol/client';
import { CoreError } from '../core/errors.ts';
import type { ToolServer } from '../core/session-tools.ts';
import type { ToolContext, ToolResult } from '../core/tool.ts';
import { firstBytes } from './bounded.ts';
import { childEnv, pathOutside, type Variables } from './child-env.ts';
import { type OfferedTool, offeredTool, toolResult } from './mcp-content.ts';
import { httpTransport } from './mcp-http.ts';
import { ProcessTransport } from './mcp-process.ts';
import type { Sandbox } from './sandbox.ts';
import { checkAborted } from './workspace.ts';

/** More than this of one server is left out. */
const MAX_PAGES = 20;
const MAX_TOOLS = 500;
const PROGRESS_MS = 100;
const PROGRESS_BYTES = 1_000;
const ERROR_BYTES = 2_000;

export interface ConnectionOptions {
  env: Variables;
  sandbox: Sandbox;
  version: string;
  /** For everything up to the list of tools. */
  connectMs: number;
  /** How long a call may stay silent, and how long it may take in all. */
  silenceMs: number;
  callMs: number;
}

export interface Connection {
  /** True once the server has ended or cannot be reached any more. */
  readonly closed: boolean;
  readonly offered: readonly OfferedTool[];
  /** Reads anew what it offers, where it said that this has changed. */
  refresh(signal: AbortSignal): Promise<void>;
  call(name: string, args: Record<string, unknown>, context: ToolContext): Promise<ToolResult>;
  close(): Promise<void>;
}

/** @throws CoreError `command_failed`, `network`, `timeout` or `cancelled`; nothing is left of the attempt then. */
export async function openConnection(
  server: ToolServer,
  workspace: string,
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<Connection> {
  const client = new Client({ name: 'pixir', version: options.version });
  let closed = false;
  let stale = true;
  let offered: readonly OfferedTool[] = [];
  const close = async () => {
    closed = true;
    await transport.close();
  };
  const transport = await transportTo(server, workspace, options, () => void close());
  client.onclose = () => {
    closed = true;
  };
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    stale = true;
  });
  const connection: Connection = {
    get closed() {
      return closed;
    },
    get offered() {
      return offered;
    },
    async refresh(within) {
      if (!stale || !client.getServerCapabilities()?.tools) return;
      stale = false;
      offered = await listTools(client, within, options.connectMs);
    },
    async call(name, args, context) {
      checkAborted(context.signal);
      if (closed) throw ended();
      try {
        return await callTool(client, { name, arguments: args }, context, options);
      } catch (error) {
        const answer = refusal(error);
        if (answer) return answer;
        const known = reason(error, context.signal);
        // Over HTTP nobody tells us of the end: who cannot be reached is asked anew, from the next Turn on.
        if (known.code === 'network') await close();
        throw known;
      }
    },
    close,
  };
  try {
    signal.throwIfAborted();
    const tooLate = once(signal, 'abort').then(() => Promise.reject(signal.reason));
    // Not all transports heed the signal while they open.
    await Promise.race([client.connect(transport, { signal, timeout: options.connectMs }), tooLate]);
    await connection.refresh(signal);
    return connection;
  } catch (error) {
    await close();
    const known = reason(error, signal);
    if (server.type !== 'stdio' || known.code !== 'command_failed') throw known;
    // What it lacks there, most often the network, is the operator's to give.
    const where = (await options.sandbox.status()).kind === 'none' ? '' : ' in the sandbox';
    throw new CoreError('command_failed', `the MCP server could not be started${where}, or does not speak MCP`);
  }
}

async function transportTo(
  server: ToolServer,
  workspace: string,
  { env, sandbox }: ConnectionOptions,
  onBroken: () => void,
): Promise<Transport> {
  if (server.type !== 'stdio') return httpTransport(server, onBroken);
  const own = childEnv(env);
  const given = Object.fromEntries(server.env.map(({ name, value }) => [name, value]));
  // Not the directories that a client adds: those are replaced with each load, and the server stays.
  const roots = { workspace, additionalDirectories: [] };
  const variables = { ...own, PATH: pathOutside(roots, own.PATH), ...given };
  const program = await sandbox.confine({ file: server.command, args: server.args, env: variables }, roots);
  return new ProcessTransport(program, workspace);
}

async function listTools(client: Client, signal: AbortSignal, timeout: number): Promise<OfferedTool[]> {
  const found: OfferedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && found.length < MAX_TOOLS; page++) {
    // Not `client.listTools`: it keeps whole pages, and compiles the schemas of the server.
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, { signal, timeout });
    found.push(...tools.slice(0, MAX_TOOLS - found.length).flatMap((tool) => offeredTool(tool) ?? []));
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return found;
}

async function callTool(
  client: Client,
  params: { name: string; arguments: Record<string, unknown> },
  { signal, progress }: ToolContext,
  { silenceMs, callMs }: ConnectionOptions,
): Promise<ToolResult> {
  let shownAt = Number.NEGATIVE_INFINITY;
  const result = await client.request(
    { method: 'tools/call', params },
    {
      signal,
      timeout: silenceMs,
      maxTotalTimeout: callMs,
      resetTimeoutOnProgress: true,
      onprogress({ progress: done, total, message }) {
        const now = performance.now();
        if (now - shownAt < PROGRESS_MS) return;
        shownAt = now;
        progress(firstBytes(message ?? (total === undefined ? `${done}` : `${done} of ${total}`), PROGRESS_BYTES));
      },
    },
  );
  return toolResult(result);
}

/** An error that the server answered with is for the model to read, like any other failure of what it called. */
function refusal(error: unknown): ToolResult | undefined {
  if (!(error instanceof ProtocolError)) return undefined;
  return { ok: false, output: firstBytes(`MCP error ${error.code}: ${error.message}`, ERROR_BYTES) };
}

function ended(): CoreError {
  return new CoreError('command_failed', 'the MCP server has ended; its tools are gone until it runs again');
}

/** In words of ours: those of the libraries name addresses, and what the server sent. */
function reason(error: unknown, signal: AbortSignal): CoreError {
  if (signal.aborted) {
    const inTime = signal.reason?.name !== 'TimeoutError';
    return inTime
      ? new CoreError('cancelled', 'the MCP server was cancelled', {}, { cause: error })
      : new CoreError('timeout', 'the MCP server did not answer in time', {}, { cause: error });
  }
  if (error instanceof CoreError) return error;
  if (error instanceof SdkHttpError && (error.status === 401 || error.status === 403))
    return new CoreError('network', 'the MCP server wants other credentials');
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return ended();
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return new CoreError('timeout', 'the MCP server did not answer in time');
  if (error instanceof SdkHttpError || error instanceof TypeError)
    return new CoreError('network', 'the MCP server cannot be reached');
  return new CoreError('command_failed', 'the MCP server gave no valid answer');
}
