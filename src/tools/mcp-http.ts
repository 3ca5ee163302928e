/**
 * An MCP server over HTTP. Redirects stay within its origin, no message is longer than those of a process, and an
 * endless stream is read only so fast.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type FetchLike,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { ToolServer } from '../core/session-tools.ts';
import { BYTES_PER_MS, MESSAGE_BYTES } from './mcp-process.ts';

const GOODBYE_MS = 500;

/** @param onBroken hears when a stream breaks on which an answer would have come. */
export function httpTransport(
  { type, url, headers }: Exclude<ToolServer, { type: 'stdio' }>,
  onBroken: () => void,
): Transport {
  const requestInit = { headers: headers.map(({ name, value }): [string, string] => [name, value]) };
  const boundedFetch: FetchLike = async (target, init) => {
    const response = await fetch(target, init);
    if (!response.body) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    // The other stream of Streamable HTTP carries no answers, and may come and go.
    const carriesAnswers = type === 'sse' || init?.method === 'POST';
    const body = ReadableStream.from(bounded(response.body, isStream, carriesAnswers ? onBroken : () => {}));
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
  const options = { fetch: boundedFetch, requestInit };
  return type === 'sse'
    ? new SSEClientTransport(new URL(url), options)
    : new PoliteHttpTransport(new URL(url), options);
}

/** Tells the server that its session is over, where that does not take long. */
class PoliteHttpTransport extends StreamableHTTPClientTransport {
  override async close(): Promise<void> {
    const told = this.terminateSession().catch(() => undefined);
    await Promise.race([told, delay(GOODBYE_MS)]);
    await super.close();
  }
}

/** Of a stream of events each may be so long, of any other answer the whole. */
async function* bounded(body: ReadableStream<Uint8Array>, isStream: boolean, onBroken: () => void) {
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.length;
      if (length > MESSAGE_BYTES) throw new Error('the answer is too long');
      // An end that falls between two chunks is not seen; the next one is.
      const end = isStream ? endOfEvent(chunk) : -1;
      if (end !== -1) length = chunk.length - end;
      await delay(chunk.length / BYTES_PER_MS);
      yield chunk;
    }
  } catch (error) {
    onBroken();
    throw error;
  }
}

/** Where the last empty line begins, or -1. */
function endOfEvent(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\n\r\n'));
}
