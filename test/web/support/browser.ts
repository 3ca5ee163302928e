/**
 * Real Chromium for the tests of the UI. Every page is watched: an error in its console, a request to another origin or a
 * breach of its content security policy fails the test that opened it. Whoever imports this need not end the browser.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { buildWeb } from '../../../scripts/build-web.ts';
import type { RunningServer } from '../../support/processes.ts';
import { chromiumPath } from './chromium.ts';

/** Without these, Chromium asks hosts of its maker at every start. */
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
/**
 * What Chromium says in the console, whatever the page does, when a connection is cut or cannot be made; and of the plain
 * request that asks why, where the server is back by then.
 */
export const CUT = /WebSocket connection to .* failed|net::ERR_|426 \(Upgrade Required\)/;
/** What it says when the page finds out that the server does not know this browser. */
export const NOT_SIGNED_IN = /HTTP Authentication failed|401 \(Unauthorized\)/;
/** It may say so of any page with a service worker and parts that are announced; they come from the worker's cache then. */
const NOISE = /cross-world service worker resource mismatch/;

let launched: Promise<Browser> | undefined;
// Outside of any test: it is done once, after the last test of the process, however many files there are.
after(async () => (await launched)?.close());

/** One for all tests of the process; it ends with it. */
function browser(): Promise<Browser> {
  launched ??= Promise.all([chromiumPath(), buildWeb({ ifNeeded: true })]).then(([executablePath]) =>
    chromium.launch({ executablePath, args: ['--no-sandbox', ...QUIET] }),
  );
  return launched;
}

/** It is closed after the test, or before, where it is `await using`. */
export interface Visitor extends AsyncDisposable {
  context: BrowserContext;
  page: Page;
  /** Errors that this test expects: those of a connection that it cuts, for one. */
  expect(pattern: RegExp): void;
}

interface VisitOptions extends BrowserContextOptions {
  path?: string;
  /** Whom the page may ask besides where it came from. */
  origins?: readonly string[];
}

/** A window of its own, signed in at the server by its token. */
export async function visit(
  t: TestContext,
  server: Pick<RunningServer, 'url' | 'token'>,
  { path = '/', ...options }: VisitOptions = {},
): Promise<Visitor> {
  const visitor = await stranger(t, server, options);
  await signIn(visitor, server);
  await visitor.page.goto(server.url + path);
  return visitor;
}

export async function signIn(
  { context }: Visitor,
  { url, token }: Pick<RunningServer, 'url' | 'token'>,
): Promise<void> {
  const headers = { origin: new URL(url).origin };
  const answer = await context.request.post(`${url}/api/login`, { data: { token }, headers });
  assert.equal(answer.status(), 200);
}

/** A window of its own that nobody has signed in, still empty. */
export async function stranger(
  t: TestContext,
  { url }: Pick<RunningServer, 'url'>,
  { origins = [], ...options }: Omit<VisitOptions, 'path'> = {},
): Promise<Visitor> {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const trace = await startTrace(t, context);
  const known = [new URL(url).origin, ...origins];
  const faults: string[] = [];
  const expected: RegExp[] = [NOISE];
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(`console: ${message.text()}`);
  });
  context.on('weberror', (error) => faults.push(`page: ${error.error()}`));
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (!known.includes(origin) && protocol.startsWith('http')) faults.push(`foreign request: ${request.url()}`);
  });
  await reportBreaches(context, (breach) => faults.push(`policy: ${breach}`));
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= trace().then(() => context.close());
    return closing;
  };
  t.after(async () => {
    await close();
    // A server that ended with its test, a moment before this page: nobody is there to hear what the page says of it.
    if ((await fetch(url).catch(() => undefined)) === undefined) expected.push(CUT);
    assert.deepEqual(
      faults.filter((fault) => !expected.some((pattern) => pattern.test(fault))),
      [],
    );
  });
  const page = await context.newPage();
  return { context, page, expect: (pattern) => void expected.push(pattern), [Symbol.asyncDispose]: close };
}

/** Also those that the console does not tell: of a policy that only reports, or inside a frame. */
async function reportBreaches(context: BrowserContext, tell: (breach: string) => void): Promise<void> {
  await context.exposeFunction('reportBreach', tell);
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile, lineNumber }) => {
      const { reportBreach } = window as unknown as { reportBreach(breach: string): Promise<void> };
      void reportBreach(`${effectiveDirective} ${blockedURI} at ${sourceFile}:${lineNumber}`);
    });
  });
}

/** Where `TRACE_DIR` names a directory, what every window did is kept there, for Playwright's trace viewer. */
async function startTrace(t: TestContext, context: BrowserContext): Promise<() => Promise<void>> {
  const directory = process.env.TRACE_DIR;
  if (directory === undefined) return async () => undefined;
  await context.tracing.start({ screenshots: true, snapshots: true });
  const name = `${t.name.replace(/\W+/g, '-')}-${performance.now().toFixed()}.zip`;
  return () => context.tracing.stop({ path: join(directory, name) });
}
