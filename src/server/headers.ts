/** Reading request headers without being fooled by repeats: Node keeps the first of several, or joins them. */
import type { IncomingMessage } from 'node:http';

/** A header's value when it was sent exactly once. */
export function only(request: IncomingMessage, name: string): string | undefined {
  const values = request.headersDistinct[name];
  return values?.length === 1 ? values[0] : undefined;
}

/** The path as it was sent, without the query: nothing is decoded, so an odd spelling of an open path is not open. */
export function pathOf(request: IncomingMessage): string {
  return request.url?.split('?', 1)[0] ?? '';
}

/** The path as the log keeps it: without the query, where people put secrets, without tokens, and not as long as a stranger likes. */
export function loggedPath(request: IncomingMessage): string {
  return pathOf(request)
    .replaceAll(/pixir_[\w-]+/g, '[token]')
    .slice(0, 200);
}

/** Whether it asks for a WebSocket; offers of anything else (curl sends h2c) are requests like any other. */
export function isUpgrade(request: IncomingMessage): boolean {
  return request.headers.upgrade?.toLowerCase() === 'websocket';
}

/** The subprotocols that a client offers, as they were written. */
export function offeredProtocols(request: IncomingMessage): string[] {
  const values = request.headersDistinct['sec-websocket-protocol'] ?? [];
  return values.flatMap((value) => value.split(',')).map((protocol) => protocol.trim());
}

/** The value of a cookie that is there exactly once: of two with one name, nobody can say which is ours. */
export function cookieOf(request: IncomingMessage, name: string): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const found = pairs.filter((pair) => pair.startsWith(`${name}=`));
  return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined;
}
