/**
 * Under which names clients see this server, and where they come from. An unknown name is no home: what rebinds its own
 * name to this address passes every other check of a browser, and only the Host header gives it away.
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { only } from './headers.ts';

export interface HomeOptions {
  /** The name or address the server was told to listen on. */
  listenHost: string;
  /** Whether the server itself speaks TLS. */
  secure: boolean;
  /** Where clients reach it through a proxy; without a slash at the end. */
  publicUrl: string | undefined;
  /** Addresses and ranges (`10.0.0.0/8`) of the proxies; empty: there is none. */
  proxies: readonly string[];
}

/** The server as one client sees it. */
interface Home {
  /** The origin of its pages. */
  origin: string;
  /** What stands before every path: empty, or `/agent`. */
  path: string;
}

export interface Homes {
  /** Undefined when the request was meant for somebody else. */
  of(request: IncomingMessage): Home | undefined;
  /** Where the request came from: what a proxy says counts when it is one of ours. */
  clientAddress(request: IncomingMessage): string;
  /** Whether this connection may be used at all: behind a proxy, everybody else is on a wire without TLS. */
  isExpected(request: IncomingMessage): boolean;
}

export function createHomes({ listenHost, secure, publicUrl, proxies }: HomeOptions): Homes {
  const names = ['localhost', '127.0.0.1', '::1', listenHost.toLowerCase()].filter((name) => !isWildcard(name));
  const scheme = secure ? 'https' : 'http';
  const seen = publicUrl === undefined ? undefined : new URL(publicUrl);
  const trusted = blockList(proxies);
  const isProxy = (address: string) => {
    const family = isIP(address);
    return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };

  return {
    of(request) {
      const host = only(request, 'host')?.toLowerCase();
      if (host === undefined) return undefined;
      if (host === seen?.host) return { origin: seen.origin, path: seen.pathname === '/' ? '' : seen.pathname };
      return localHosts(request, names, secure).includes(host)
        ? { origin: `${scheme}://${host}`, path: '' }
        : undefined;
    },

    clientAddress(request) {
      const peer = unmapped(request.socket.remoteAddress);
      if (!isProxy(peer)) return peer;
      // The nearest proxy writes last; what stands before its own entry a client may have made up.
      const hops = (request.headers['x-forwarded-for'] ?? '').toString().split(',');
      const client = hops.map((hop) => unmapped(hop.trim())).findLast((hop) => !isProxy(hop));
      return client !== undefined && isIP(client) ? client : peer;
    },

    isExpected(request) {
      const peer = unmapped(request.socket.remoteAddress);
      return proxies.length === 0 || isLoopback(peer) || isProxy(peer);
    },
  };
}

/** Whether only this machine can connect to it. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** "Every address" is no name that anyone connects to for a good reason. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/**
 * The names this server has at the port a connection came in on, and the address it came in on. An IP address cannot
 * be rebound, so the latter is safe whatever the server listens on.
 */
function localHosts(request: IncomingMessage, names: readonly string[], secure: boolean): string[] {
  const { localAddress, localPort } = request.socket;
  const implied = secure ? 443 : 80;
  return [...names, unmapped(localAddress)].flatMap((name) => {
    const host = name.includes(':') ? `[${name}]` : name;
    // Clients leave out the port that the scheme implies.
    return localPort === implied ? [host, `${host}:${implied}`] : [`${host}:${localPort}`];
  });
}

/** An IPv4 address as itself, where an IPv6 socket reports it. */
function unmapped(address = ''): string {
  return address.replace(/^::ffff:(?=[\d.]+$)/, '');
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
