/** Without a network the page is there all the same, says so, and goes on when there is one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { CUT, type Visitor, visit } from './support/browser.ts';
import { startReverseProxy } from './support/reverse-proxy.ts';
import { prompt, promptField, startSession } from './support/session.ts';
import { answers } from './support/steps.ts';

test('[UI15] visited once, the page opens without a network and says so; with one again, it works', async (t) => {
  await using dir = await tempDir();
  await using server = await startServer(dir.path, {}, ['--workspace', dir.path]);
  await using visitor = await visit(t, server);
  await staysUseful(visitor);
});

test('[UI15] so it does below a path', async (t) => {
  await using dir = await tempDir();
  await using proxy = await startReverseProxy('/agent');
  const flags = ['--behind-proxy', '127.0.0.1', '--public-url', proxy.url, '--workspace', dir.path];
  await using server = await startServer(dir.path, {}, flags);
  proxy.lead(server.url);
  await using visitor = await visit(t, { url: proxy.url, token: server.token });
  await staysUseful(visitor);
});

async function staysUseful({ page, context, expect }: Visitor): Promise<void> {
  expect(CUT);
  await startSession(page);
  await prompt(page, 'echo Said with a network');
  await answers(page).getByText('Said with a network').waitFor();
  await isKept(page);

  await context.setOffline(true);
  await page.reload();
  const banner = page.getByRole('region', { name: 'Connection' });
  await banner.getByText('Offline', { exact: true }).waitFor();
  await banner.getByText('This device has no network').waitFor();
  await page.getByRole('navigation', { name: 'Sessions' }).waitFor();
  assert.equal(await page.evaluate(() => navigator.onLine), false);
  await prompt(page, 'echo Written without one');

  await context.setOffline(false);
  await answers(page).getByText('Said with a network').waitFor();
  await answers(page).getByText('Written without one').waitFor();
  await banner.waitFor({ state: 'hidden' });
  assert.equal(await promptField(page).inputValue(), '');
}

/** The service worker has all scripts and styles that this page has loaded; a font may be missing. */
function isKept(page: Page): Promise<void> {
  return page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    const parts = () =>
      performance.getEntriesByType('resource').filter(({ name }) => /-[\w-]{8}\.(?:js|css)$/.test(name));
    const areMissing = async () =>
      (await Promise.all(parts().map(({ name }) => caches.match(name)))).includes(undefined);
    while (await areMissing()) await new Promise(requestAnimationFrame);
  });
}
