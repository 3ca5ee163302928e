/**
 * Signing in and out of a browser, and tickets for pages of other origins. The cookie carries a token of its own, made at
 * sign-in; what somebody signs in with is never kept, and nothing of it is repeated in an answer.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { Principal } from '../core/principal.ts';
import type { Admitted, OwnCookie } from './admission.ts';
import type { Ticket } from './carriers.ts';
import { refuse } from './http.ts';
import { ONE_TIME_MS, type OneTime } from './one-time.ts';

/** Tokens that browsers carry in a cookie. */
export interface BrowserTokens {
  /**
   * A new token with what `token` is good for, for as long as that is accepted.
   * Undefined when nobody known presents `token`.
   */
  signIn(token: string): BrowserToken | undefined;
  /** A new token for whoever came by the launch link: the owner of the server. */
  launch(): BrowserToken;
  /** The token is no longer accepted. */
  signOut(token: string): void;
}

interface BrowserToken {
  token: string;
  principal: Principal;
  maxAgeSeconds: number;
}

export interface SignInOptions {
  browsers: BrowserTokens;
  launchCodes: Pick<OneTime<'launch'>, 'redeem'>;
  /** What admission found out about this request. */
  admitted(request: FastifyRequest): Admitted;
  /** One more wrong attempt; true when there have been too many from there. */
  countFailure(request: FastifyRequest): boolean;
}

const loginSchema = z.union([z.strictObject({ token: z.string() }), z.strictObject({ code: z.string() })]);

export function registerSignIn(app: FastifyInstance, options: SignInOptions): void {
  const { browsers, launchCodes, admitted, countFailure } = options;

  app.post('/api/login', (request, reply) => {
    const body = loginSchema.safeParse(request.body);
    if (!body.success) return refuse(reply, 400);
    const signedIn = signIn(body.data);
    if (!signedIn) return refuse(reply, countFailure(request) ? 429 : 401);
    const { token, principal, maxAgeSeconds } = signedIn;
    const { name, owner, scopes } = principal;
    return reply
      .header('set-cookie', setCookie(admitted(request).cookie, token, maxAgeSeconds))
      .send({ name, owner, scopes });
  });

  function signIn(by: z.infer<typeof loginSchema>): BrowserToken | undefined {
    if ('token' in by) return browsers.signIn(by.token);
    return launchCodes.redeem(by.code) ? browsers.launch() : undefined;
  }

  app.post('/api/logout', (request, reply) => {
    const verdict = admitted(request);
    const carried = verdict.outcome === 'allow' ? verdict.presented : undefined;
    // Whoever came with a token in a header has no cookie of ours to give back.
    if (carried?.carrier === 'cookie') browsers.signOut(carried.token);
    return reply
      .header('set-cookie', setCookie(verdict.cookie, '', 0))
      .code(204)
      .send();
  });
}

interface TicketOptions extends Pick<SignInOptions, 'admitted'> {
  tickets: Pick<OneTime<Ticket>, 'issue'>;
}

export function registerTickets(app: FastifyInstance, { tickets, admitted }: TicketOptions): void {
  app.post('/api/tickets', (request, reply) => {
    const verdict = admitted(request);
    if (verdict.outcome !== 'allow') return refuse(reply, 401);
    const { credential } = verdict.presented;
    const ticket = tickets.issue({ credential, origin: request.headers.origin });
    if (ticket === undefined) return refuse(reply.header('retry-after', ONE_TIME_MS / 1000), 429);
    return reply.send({ ticket, expiresInMs: ONE_TIME_MS });
  });
}

/** SameSite=Strict: no other site can make the browser send it, not even by a link. */
function setCookie({ name, path, secure }: OwnCookie, value: string, maxAgeSeconds: number): string {
  const parts = [`${name}=${value}`, `Path=${path}`, `Max-Age=${maxAgeSeconds}`, 'HttpOnly', 'SameSite=Strict'];
  return [...parts, ...(secure ? ['Secure'] : [])].join('; ');
}
