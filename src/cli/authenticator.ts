/**
 * Who presents a token, and the tokens that browsers are given. Nothing here remembers one: the files are read each time,
 * so what was revoked is nothing at once. A token must never be printed or logged.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import type { CoreError } from '../core/errors.ts';
import { LOCAL, type Principal } from '../core/principal.ts';
import type { Credential } from '../server/carriers.ts';
import type { BrowserTokens } from '../server/sign-in.ts';
import type { Secret } from './secret.ts';
import {
  createToken,
  type Grant,
  isCurrent,
  type NamedToken,
  PREFIX,
  readNamedToken,
  readTokens,
  revokeToken,
} from './tokens.ts';

/** How long a browser stays signed in. */
const BROWSER_MS = 30 * 24 * 60 * 60 * 1000;

export interface AuthenticatorOptions {
  dataDir: string;
  /** The server's own token: it opens everything that is `local`'s. */
  token: Secret;
  clock: Clock;
  onError(error: CoreError): void;
}

export interface Authenticator {
  /** Every token is compared, whole, however much of one was right. */
  authenticate(token: string): Credential | undefined;
  browsers: BrowserTokens;
}

type Found = { kind: 'own' } | { kind: 'named'; named: NamedToken };

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { dataDir, clock, onError } = options;
  const own = hash('sha256', options.token.reveal(), 'buffer');

  function find(candidate: string): Found | undefined {
    const presented = hash('sha256', candidate, 'buffer');
    const isPresented = (digest: Buffer) => timingSafeEqual(digest, presented);
    if (isPresented(own)) return { kind: 'own' };
    if (!candidate.startsWith(PREFIX)) return undefined;
    const matching = readTokens(dataDir, onError).filter(({ sha256 }) => isPresented(Buffer.from(sha256, 'hex')));
    const [named] = matching.filter(isAccepted);
    return named && { kind: 'named', named };
  }

  function isAccepted(named: NamedToken): boolean {
    const now = clock.now();
    const { via } = named;
    if (!isCurrent(named, now)) return false;
    if (via === null) return true;
    if (via.name === null) return via.sha256 === own.toString('hex');
    const origin = readNamedToken(dataDir, via.name, onError);
    // One step and no further: a token that was made by another makes none.
    return origin?.sha256 === via.sha256 && origin.via === null && isCurrent(origin, now);
  }

  return {
    authenticate(candidate) {
      const found = find(candidate);
      if (found?.kind !== 'named') return found && { principal: LOCAL };
      const { name, text } = found.named;
      const holds = () => {
        const now = readNamedToken(dataDir, name, onError);
        return now?.text === text && isAccepted(now);
      };
      return { principal: principalOf(found.named), holds };
    },
    browsers: createBrowserTokens(options, find),
  };
}

function createBrowserTokens(options: AuthenticatorOptions, find: (token: string) => Found | undefined): BrowserTokens {
  const { dataDir, clock, onError } = options;

  /** Nobody will revoke what browsers have forgotten. */
  function forgetExpired(now: number): void {
    for (const named of readTokens(dataDir, onError))
      if (named.via !== null && !isCurrent(named, now)) revokeToken(dataDir, named.name);
  }

  function make(grant: Omit<Grant, 'createdAt'>) {
    const now = clock.now();
    forgetExpired(now);
    const ends = Math.min(now + BROWSER_MS, grant.expiresAt === null ? Infinity : Date.parse(grant.expiresAt));
    const times = { createdAt: new Date(now).toISOString(), expiresAt: new Date(ends).toISOString() };
    const name = `browser-${randomBytes(4).toString('hex')}`;
    const token = createToken(dataDir, name, { ...grant, ...times }).reveal();
    return { token, principal: principalOf({ ...grant, name }), maxAgeSeconds: Math.floor((ends - now) / 1000) };
  }

  const launch = () => {
    const via = { name: null, sha256: hash('sha256', options.token.reveal()) };
    return make({ owner: LOCAL.owner, scopes: [...LOCAL.scopes], workspaces: null, expiresAt: null, via });
  };

  return {
    launch,
    signIn(candidate) {
      const found = find(candidate);
      if (found?.kind !== 'named') return found && launch();
      const { owner, scopes, workspaces, expiresAt, name, sha256, via } = found.named;
      if (via !== null) return undefined;
      return make({ owner, scopes, workspaces, expiresAt, via: { name, sha256 } });
    },
    signOut(candidate) {
      const found = find(candidate);
      if (found?.kind === 'named' && found.named.via !== null) revokeToken(dataDir, found.named.name);
    },
  };
}

function principalOf({ name, owner, scopes, workspaces }: Principal): Principal {
  return { name, owner, scopes, workspaces };
}
