/**
 * Every route there is and who may ask for it: admission reads this table, so a handler that is missing here can only be
 * reached with a credential, and a test compares it with what Fastify has.
 */
import type { Scope } from '../core/principal.ts';

/** Who may ask, of those that came to the right host with no foreign origin. */
interface Access {
  kind: 'anyone' | 'credential';
  /** What the credential must be good for. */
  scope?: Scope;
}

interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  access: Access;
  /** How pages of the other origins on the list may ask too: by a WebSocket, or by a request whose answer they may read. */
  shared?: 'upgrade' | 'cors';
}

export const ACP_PATH = '/acp';

export const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/', access: { kind: 'anyone' } },
  { method: 'GET', path: '/sw.js', access: { kind: 'anyone' } },
  { method: 'GET', path: '/assets/:file', access: { kind: 'anyone' } },
  { method: 'GET', path: '/healthz', access: { kind: 'anyone' } },
  { method: 'GET', path: '/readyz', access: { kind: 'anyone' } },
  { method: 'GET', path: '/metrics', access: { kind: 'credential', scope: 'admin' } },
  { method: 'GET', path: ACP_PATH, access: { kind: 'credential' }, shared: 'upgrade' },
  { method: 'POST', path: ACP_PATH, access: { kind: 'credential' } },
  { method: 'DELETE', path: ACP_PATH, access: { kind: 'credential' } },
  { method: 'POST', path: '/api/login', access: { kind: 'anyone' } },
  { method: 'POST', path: '/api/logout', access: { kind: 'credential' } },
  { method: 'POST', path: '/api/tickets', access: { kind: 'credential' }, shared: 'cors' },
];

/** Where a GET may be, a HEAD may be. */
export function findRoute(method: string, path: string): Route | undefined {
  const wanted = method === 'HEAD' ? 'GET' : method;
  return ROUTES.find((route) => isAt(route, path) && route.method === wanted);
}

/** What may be asked of a path; nothing where there is none. */
export function methodsAt(path: string): string[] {
  return ROUTES.filter((route) => isAt(route, path)).flatMap(({ method }) =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  );
}

const ANY_FILE = '/:file';

function isAt({ path: pattern }: Route, path: string): boolean {
  if (!pattern.endsWith(ANY_FILE)) return pattern === path;
  const directory = pattern.slice(0, -ANY_FILE.length + 1);
  return path.startsWith(directory) && path.length > directory.length && !path.includes('/', directory.length);
}
