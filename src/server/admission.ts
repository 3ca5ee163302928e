/**
 * Who may come in: the one function that judges every HTTP request and every upgrade, before anything else looks at
 * them. It must never say why it refused to anyone but the log, and never keep or print a credential.
 */
import type { IncomingMessage } from 'node:http';
import { may } from '../core/principal.ts';
import { type CarrierOptions, type Credential, type Presented, presented } from './carriers.ts';
import type { Failures } from './failures.ts';
import { isUpgrade, only, pathOf } from './headers.ts';
import type { Homes } from './home.ts';
import { findRoute, methodsAt } from './routes.ts';

/** Why a request was refused: for the log only. */
type RefusalReason = 'target' | 'peer' | 'host' | 'origin' | 'credential' | 'scope' | 'method' | 'content-type';

type RefusalStatus = 401 | 403 | 405 | 415 | 429;

export type Verdict =
  /** One of the few routes that anyone may ask for who came to the right host. */
  | { outcome: 'open'; cookie: OwnCookie }
  | { outcome: 'allow'; cookie: OwnCookie; presented: Presented & { kind: 'known' } }
  /** A browser asks whether a page of another origin on the list may ask at all. */
  | { outcome: 'preflight'; methods: readonly string[] }
  | { outcome: 'refuse'; status: RefusalStatus; reason: RefusalReason };

/** Everything but a refusal or an answer to a browser's question. */
export type Admitted = Verdict & { outcome: 'open' | 'allow' };

/** The cookie in which a page of this server carries its token: cookies do not know of ports, so its name does. */
export interface OwnCookie {
  name: string;
  path: string;
  secure: boolean;
}

export interface AdmissionOptions extends CarrierOptions {
  homes: Homes;
  /** Origins of browser pages to accept beside the server's own, for what is shared with them. */
  allowedOrigins: readonly string[];
  failures: Failures;
}

export type Admit = (request: IncomingMessage) => Verdict;

export function createAdmission(options: AdmissionOptions): Admit {
  const { homes, failures } = options;
  const allowedOrigins = new Set(options.allowedOrigins);

  return (request) => {
    // An absolute-form target carries a second host name, and which of the two counts is anyone's guess.
    if (!request.url?.startsWith('/')) return refuse(403, 'target');
    if (!homes.isExpected(request)) return refuse(403, 'peer');
    const home = homes.of(request);
    if (!home) return refuse(403, 'host');

    const method = request.method ?? '';
    const path = pathOf(request);
    const route = findRoute(method, path);

    // WebSockets are outside CORS, so this is the only thing between any web page and the agent.
    if (request.headers.origin !== undefined) {
      const origin = only(request, 'origin') ?? '';
      const isGuest = origin !== home.origin && allowedOrigins.has(origin);
      if (isGuest && method === 'OPTIONS') return preflight(request, path);
      const isWelcome = route?.shared === 'cors' || (route?.shared === 'upgrade' && isUpgrade(request));
      if (origin !== home.origin && !(isGuest && isWelcome)) return refuse(403, 'origin');
    }

    const cookie = ownCookie(home, request.socket.localPort);
    if (route?.access.kind === 'anyone') return isReadable(request) ? { outcome: 'open', cookie } : UNREADABLE;

    const shown = presented(request, { origin: home.origin, cookie: cookie.name }, options);
    if (shown.kind === 'nothing') return refuse(401, 'credential');
    if (shown.kind === 'wrong') return refuse(failures.count(homes.clientAddress(request)) ? 429 : 401, 'credential');

    const scope = route?.access.scope;
    if (scope && !may(shown.credential.principal, scope)) return refuse(403, 'scope');
    if (!route && methodsAt(path).length > 0) return refuse(405, 'method');
    return isReadable(request) ? { outcome: 'allow', cookie, presented: shown } : UNREADABLE;
  };
}

/** The credential of an admitted request. */
export function credentialOf(verdict: Verdict): Credential | undefined {
  return verdict.outcome === 'allow' ? verdict.presented.credential : undefined;
}

/** Pages of another origin may ask in the ways that their route knows, and in no other. */
function preflight(request: IncomingMessage, path: string): Verdict {
  const method = only(request, 'access-control-request-method') ?? '';
  return findRoute(method, path)?.shared === 'cors'
    ? { outcome: 'preflight', methods: methodsAt(path) }
    : refuse(403, 'origin');
}

/** A body has to say that it is JSON: no page can send that to another origin without asking first. */
function isReadable(request: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (isUpgrade(request) || (length === '0' && encoding === undefined)) return true;
  return /^application\/json(; ?charset=utf-8)?$/i.test(only(request, 'content-type') ?? '');
}

function ownCookie({ origin, path }: { origin: string; path: string }, port = 0): OwnCookie {
  if (!origin.startsWith('https:')) return { name: `pixir_${port}`, path: `${path}/`, secure: false };
  return { name: path === '' ? '__Host-pixir' : '__Secure-pixir', path: `${path}/`, secure: true };
}

const UNREADABLE = refuse(415, 'content-type');

function refuse(status: RefusalStatus, reason: RefusalReason): Verdict & { outcome: 'refuse' } {
  return { outcome: 'refuse', status, reason };
}
