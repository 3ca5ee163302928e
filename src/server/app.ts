/** The HTTP server put together: admission in front of everything, a few small routes, and the door to ACP. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { OpenPeer } from '../acp/transport.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { createAdmission } from './admission.ts';
import type { CarrierOptions, Ticket } from './carriers.ts';
import { createFailures } from './failures.ts';
import { guardRequests, upgrader } from './guard.ts';
import { registerHealth } from './health.ts';
import { createHomes } from './home.ts';
import { createHttpServer, type Tls } from './http.ts';
import type { Logger } from './logger.ts';
import { registerMetrics } from './metrics.ts';
import { createOneTime, type OneTime } from './one-time.ts';
import { createPlaces } from './places.ts';
import { type BrowserTokens, registerSignIn, registerTickets } from './sign-in.ts';
import { registerStreamable } from './streamable.ts';
import { registerUi } from './ui.ts';
import { createAcpEndpoint, type EndpointLimits } from './websocket.ts';

const SHUTDOWN_GRACE_MS = 5_000;
/** Each is good for a minute: more are asked for by nobody who uses them. */
const MAX_TICKETS = 1_000;

export interface AppOptions {
  openPeer: OpenPeer;
  authenticate: CarrierOptions['authenticate'];
  /** How browsers sign in; absent where none do. */
  signIn?: { browsers: BrowserTokens; launchCodes: OneTime<'launch'> };
  /** Whether the server can do its work now. */
  readiness: () => boolean | Promise<boolean>;
  logger: Logger;
  /** Where the build of the browser UI is; absent where there is none. */
  uiDir?: string;
  /** The name or address the server is told to listen on; clients may use it, as they may the loopback names. */
  listenHost?: string;
  tls?: Tls | undefined;
  /** Where clients reach the server through a proxy. */
  publicUrl?: string | undefined;
  /** Addresses and ranges of the proxies. */
  proxies?: readonly string[] | undefined;
  /** Origins of browser pages to accept beside the server's own. */
  allowedOrigins?: readonly string[];
  limits: EndpointLimits & {
    /** Wrong attempts from one address within a minute, to sign in and with any request; further ones are 429. */
    maxSignInFailuresPerMinute: number;
    maxWrongCredentialsPerMinute: number;
  };
  /** How long the headers of a request may take. */
  headersTimeoutMs?: number;
  /** How long closing waits for clients to say goodbye. */
  shutdownGraceMs?: number;
  clock?: Clock;
}

/** Builds the server without listening. Its `close()` is the graceful one: clients are told to come back. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { logger, limits, authenticate, tls, clock = systemClock, allowedOrigins = [] } = options;
  const homes = createHomes({
    listenHost: options.listenHost ?? 'localhost',
    secure: tls !== undefined,
    publicUrl: options.publicUrl,
    proxies: options.proxies ?? [],
  });
  const failures = createFailures(clock, limits.maxWrongCredentialsPerMinute);
  const tickets = createOneTime<Ticket>(clock, MAX_TICKETS);
  const admit = createAdmission({ authenticate, tickets, homes, failures, allowedOrigins });
  const { clientAddress } = homes;
  const places = createPlaces(limits);
  const transport = { openPeer: options.openPeer, clientAddress, logger, clock, limits, places };
  const endpoint = createAcpEndpoint(transport);

  const app = createHttpServer({ logger, tls, headersTimeoutMs: options.headersTimeoutMs });
  const guard = { admit, clientAddress, allowedOrigins, logger };
  const admitted = guardRequests(app, guard);
  app.server.on('upgrade', upgrader(guard, endpoint));
  const streamable = registerStreamable(app, { ...transport, admitted });
  app.addHook('preClose', async () => {
    const { shutdownGraceMs = SHUTDOWN_GRACE_MS } = options;
    await Promise.all([endpoint, streamable].map(({ closeGracefully }) => closeGracefully(shutdownGraceMs)));
  });

  await registerUi(app, options.uiDir);
  registerHealth(app, options.readiness, logger);
  registerMetrics(app, () => endpoint.connections() + streamable.connections());
  if (options.signIn) {
    const attempts = createFailures(clock, limits.maxSignInFailuresPerMinute);
    const countFailure = ({ raw }: FastifyRequest) => attempts.count(clientAddress(raw));
    registerSignIn(app, { ...options.signIn, admitted, countFailure });
  }
  registerTickets(app, { tickets, admitted });

  await app.ready();
  return app;
}
