/**
 * Who may come in: the one function that judges every HTTP request and every upgrade, before anything else looks at
 * them. It must never say why it refused to anyone but the log, and never keep or print a credential.
 */
import type { IncomingMessage } from 'node:http';
import type { Principal } from '../core/principal.ts';

/** A credential that was accepted. */
export interface Credential {
  principal: Principal;
  /** Whether it is accepted still; absent where it is for as long as the server runs. */
  holds?(): boolean;
}

/** Why a request was refused: for the log only. */
type RefusalReason = 'target' | 'host' | 'origin' | 'credential';

export type Verdict =
  /** One of the few paths that anyone may ask for who came to the right host. */
  | { outcome: 'open' }
  | { outcome: 'allow'; credential: Credential }
  | { outcome: 'refuse'; status: 401 | 403; reason: RefusalReason };

export interface AdmissionOptions {
  /** Says who presents this bearer token, in constant time; undefined when nobody known does. */
  authenticate: (token: string) => Credential | undefined;
  /** The name or address the server was told to listen on. */
  listenHost: string;
  /** Host headers to accept beside the local ones, exactly as they arrive: `pixir.example.org`. */
  allowedHosts: readonly string[];
  /** Origins of browser pages to accept beside the server's own. */
  allowedOrigins: readonly string[];
  /** Paths that need no credential. */
  openPaths: readonly string[];
}

export function createAdmission(options: AdmissionOptions): (request: IncomingMessage) => Verdict {
  const hosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
  const localNames = ['localhost', '127.0.0.1', '::1', options.listenHost.toLowerCase()].filter(isNoWildcard);
  const origins = new Set(options.allowedOrigins);
  const openPaths = new Set(options.openPaths);

  return (request) => {
    // An absolute-form target carries a second host name, and which of the two counts is anyone's guess.
    if (!request.url?.startsWith('/')) return refuse(403, 'target');

    // A page that rebinds its name to this address passes every other browser check; only Host gives it away.
    const host = only(request, 'host')?.toLowerCase();
    if (host === undefined || !(hosts.has(host) || localHosts(request, localNames).includes(host)))
      return refuse(403, 'host');

    // WebSockets are outside CORS, so this is the only thing between any web page and the agent.
    if (request.headers.origin !== undefined) {
      const origin = only(request, 'origin');
      if (origin === undefined || !(origins.has(origin) || origin === `http://${host}`)) return refuse(403, 'origin');
    }

    if (openPaths.has(pathOf(request))) return { outcome: 'open' };

    const token = bearerToken(only(request, 'authorization'));
    const credential = token === undefined ? undefined : options.authenticate(token);
    return credential === undefined ? refuse(401, 'credential') : { outcome: 'allow', credential };
  };
}

/** The path as it was sent, without the query: nothing is decoded, so an odd spelling of an open path is not open. */
export function pathOf(request: IncomingMessage): string {
  return request.url?.split('?', 1)[0] ?? '';
}

function refuse(status: 401 | 403, reason: RefusalReason): Verdict {
  return { outcome: 'refuse', status, reason };
}

/** A header's value when it was sent exactly once. Node silently keeps the first of several. */
function only(request: IncomingMessage, name: string): string | undefined {
  const values = request.headersDistinct[name];
  return values?.length === 1 ? values[0] : undefined;
}

/** Scheme names are case-insensitive; the token must be all that follows. */
function bearerToken(authorization: string | undefined): string | undefined {
  return authorization?.match(/^bearer +([^\s]+)$/i)?.[1];
}

/**
 * The names this server has at the port a connection came in on, and the address it came in on. An IP address cannot
 * be rebound, so the latter is safe whatever the server listens on.
 */
function localHosts(request: IncomingMessage, names: readonly string[]): string[] {
  const { localAddress = '', localPort } = request.socket;
  return [...names, localAddress.replace(/^::ffff:(?=[\d.]+$)/, '')].flatMap((name) => {
    const host = name.includes(':') ? `[${name}]` : name;
    // Clients leave out the port that http implies.
    return localPort === 80 ? [host, `${host}:80`] : [`${host}:${localPort}`];
  });
}

/** "Every address" is no name that anyone connects to for a good reason. */
function isNoWildcard(name: string): boolean {
  return name !== '0.0.0.0' && name !== '::';
}
