/** Where the page can be: below a path behind a proxy, and at another origin than its server. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { tempDir } from '../support/temp-dir.ts';
import { CUT, NOT_SIGNED_IN, stranger } from './support/browser.ts';
import { startElsewhere } from './support/elsewhere.ts';
import { startReverseProxy } from './support/reverse-proxy.ts';
import { startWithLink } from './support/servers.ts';
import { prompt, startSession } from './support/session.ts';
import { answers } from './support/steps.ts';

/** A server below a path, and a copy of its page at an origin that it allows. */
async function stage(t: TestContext) {
  const stack = new AsyncDisposableStack();
  t.after(() => stack.disposeAsync());
  const { path: dir } = stack.use(await tempDir());
  const proxy = stack.use(await startReverseProxy('/agent'));
  const elsewhere = stack.use(await startElsewhere(proxy.url));
  const flags = ['--behind-proxy', '127.0.0.1', '--public-url', proxy.url, '--workspace', dir];
  const server = stack.use(await startWithLink(dir, { PIXIR_ALLOWED_ORIGINS: elsewhere.origin }, flags));
  proxy.lead(server.url);
  return { proxy, elsewhere, link: server.link, token: server.token };
}

test('[UI13] behind a proxy, below a path: launch link, prompt, reload, deep link', async (t) => {
  const { proxy, link } = await stage(t);
  const { page, context } = await stranger(t, proxy);
  await page.goto(link);
  await startSession(page);
  assert.equal(new URL(page.url()).pathname, '/agent/');
  assert.doesNotMatch(page.url(), /launch/);
  await prompt(page, 'echo Hello from below a path');
  await answers(page).getByText('Hello from below a path').waitFor();
  await page.reload();
  await answers(page).getByText('Hello from below a path').waitFor();

  const [cookie] = await context.cookies();
  assert.deepEqual([cookie?.path, cookie?.httpOnly, cookie?.sameSite], ['/agent/', true, 'Strict']);
  const other = await context.newPage();
  await other.goto(page.url());
  await answers(other).getByText('Hello from below a path').waitFor();
});

test('[UI14] a page of another allowed origin signs in by token and tickets, and comes back after a cut', async (t) => {
  const { proxy, elsewhere, token } = await stage(t);
  const { page, context, expect } = await stranger(
    t,
    { url: elsewhere.origin },
    { origins: [new URL(proxy.url).origin] },
  );
  expect(NOT_SIGNED_IN);
  expect(CUT);
  await page.goto(elsewhere.origin);
  await signInBy(page, 'not-the-token');
  await page.getByText('The server does not know this token').waitFor();
  await signInBy(page, token);
  await startSession(page);
  await prompt(page, 'echo Hello from elsewhere');
  await answers(page).getByText('Hello from elsewhere').waitFor();

  await page.reload();
  await answers(page).getByText('Hello from elsewhere').waitFor();

  const another = page.waitForRequest(`${proxy.url}/api/tickets`);
  proxy.cut();
  await another;
  await prompt(page, 'echo And after the cut');
  await answers(page).getByText('And after the cut').waitFor();
  assert.deepEqual(await context.cookies(proxy.url), []);
  assert.ok(!(await page.evaluate(() => JSON.stringify({ ...localStorage }))).includes(token));

  // Another tab has a storage of its own.
  const other = await context.newPage();
  await other.goto(elsewhere.origin);
  await other.getByLabel('Token', { exact: true }).waitFor();
});

test('[UI14] a page of an origin that is not on the list is refused, and says so', async (t) => {
  const { proxy, elsewhere, token } = await stage(t);
  const { page, expect } = await stranger(t, { url: elsewhere.otherOrigin }, { origins: [new URL(proxy.url).origin] });
  expect(/blocked by CORS policy|net::ERR_FAILED/);
  await page.goto(elsewhere.otherOrigin);
  await signInBy(page, token);
  await page.getByText('does not allow pages from this address').waitFor();
});

async function signInBy(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
