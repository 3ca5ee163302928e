/**
 * How the server meets the world: where it may listen, with which certificate, and what link a browser opens. It must
 * refuse to carry tokens over a network in the clear, whatever else is configured.
 */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { CoreError } from '../core/errors.ts';
import { isLoopback, isWildcard } from '../server/home.ts';
import type { Tls } from '../server/http.ts';
import type { Config } from './config.ts';

type Binding = Pick<Config, 'host' | 'tlsCert' | 'tlsKey' | 'behindProxy'>;

/** @throws CoreError `config_invalid`, saying what to set. */
export function assertSafeBinding({ host, tlsCert, tlsKey, behindProxy }: Binding): void {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    const missing = tlsCert === undefined ? '--tls-cert' : '--tls-key';
    throw new CoreError('config_invalid', `a certificate and its key belong together: ${missing} is missing`);
  }
  if (isLoopback(host) || tlsCert !== undefined || behindProxy !== undefined) return;
  throw new CoreError(
    'config_invalid',
    `${host} can be reached from other machines, and tokens would travel in the clear: set --tls-cert and --tls-key, ` +
      'or --behind-proxy with the address of the proxy that speaks TLS, or listen on 127.0.0.1',
  );
}

/** @throws CoreError `config_invalid` when one of the files cannot be read, or they are no certificate and its key. */
export function loadTls({ tlsCert, tlsKey }: Binding): Tls | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const tls = { cert: readPem(tlsCert), key: readPem(tlsKey) };
  try {
    createSecureContext(tls);
    return tls;
  } catch {
    throw new CoreError('config_invalid', `${tlsCert} and ${tlsKey} are not a certificate and its key, as PEM files`);
  }
}

/** Where this machine reaches a server that listens on `url`: a wildcard is the name of none. */
export function reachable(url: string): string {
  const at = new URL(url);
  const name = at.hostname.replace(/^\[|\]$/g, '');
  if (isWildcard(name)) at.hostname = name === '::' ? '[::1]' : '127.0.0.1';
  return at.origin;
}

/** What comes after the # is sent to nobody: not to the server, not to a proxy, not as a referrer. */
export function launchLink(base: string, code: string): string {
  return `${base}/#launch=${code}`;
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CoreError('config_invalid', `${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
