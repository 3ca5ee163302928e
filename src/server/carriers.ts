/**
 * What carries a credential: a bearer header, a ticket among the subprotocols, or our cookie. One request counts as one
 * attempt, by the first of these that is there; no carrier may stand in for another that was wrong.
 */
import type { IncomingMessage } from 'node:http';
import type { Principal } from '../core/principal.ts';
import { cookieOf, isUpgrade, offeredProtocols, only } from './headers.ts';
import type { OneTime } from './one-time.ts';

/** A credential that was accepted. */
export interface Credential {
  principal: Principal;
  /** Whether it is accepted still; absent where it is for as long as the server runs. */
  holds?(): boolean;
}

/** A ticket is good for whom it was made, and from where it was asked for. */
export interface Ticket {
  credential: Credential;
  /** Undefined: by something that is no browser. */
  origin: string | undefined;
}

export type Presented =
  | { kind: 'nothing' }
  | { kind: 'wrong' }
  | { kind: 'known'; credential: Credential; carrier: 'bearer' | 'ticket' }
  | { kind: 'known'; credential: Credential; carrier: 'cookie'; token: string };

export interface CarrierOptions {
  /** Says who presents this token, in constant time; undefined when nobody known does. */
  authenticate(token: string): Credential | undefined;
  tickets: Pick<OneTime<Ticket>, 'redeem'>;
}

const TICKET = 'pixir.ticket.';

/** @param own the origin of the server's own pages, and the name of its cookie there. */
export function presented(
  request: IncomingMessage,
  own: { origin: string; cookie: string },
  { authenticate, tickets }: CarrierOptions,
): Presented {
  if (request.headers.authorization !== undefined) {
    const token = bearerToken(only(request, 'authorization'));
    const credential = token === undefined ? undefined : authenticate(token);
    return credential ? { kind: 'known', credential, carrier: 'bearer' } : { kind: 'wrong' };
  }

  const offered = offeredProtocols(request).filter((protocol) => protocol.startsWith(TICKET));
  if (isUpgrade(request) && offered.length > 0) {
    const [code = ''] = offered;
    const ticket = offered.length === 1 ? tickets.redeem(code.slice(TICKET.length)) : undefined;
    const fits = ticket && ticket.origin === request.headers.origin && (ticket.credential.holds?.() ?? true);
    return fits ? { kind: 'known', credential: ticket.credential, carrier: 'ticket' } : { kind: 'wrong' };
  }

  const token = cookieOf(request, own.cookie);
  // A page of another port of this machine is the same site to the browser, which sends the cookie along.
  if (token === undefined || !isFromOwnPage(request, own.origin)) return { kind: 'nothing' };
  const credential = authenticate(token);
  return credential ? { kind: 'known', credential, carrier: 'cookie', token } : { kind: 'wrong' };
}

/** Scheme names are case-insensitive; the token must be all that follows. */
function bearerToken(authorization: string | undefined): string | undefined {
  return authorization?.match(/^bearer +([^\s]+)$/i)?.[1];
}

/**
 * Where a browser sends no Origin with a request of the page to its own server (a GET, or anything of a page without a
 * referrer), it says so in a header that no page can set. With an upgrade it always sends one.
 */
function isFromOwnPage(request: IncomingMessage, origin: string): boolean {
  if (request.headers.origin !== undefined) return only(request, 'origin') === origin;
  return !isUpgrade(request) && only(request, 'sec-fetch-site') === 'same-origin';
}
