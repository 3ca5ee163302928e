/** What a browser has to fetch before it shows anything: a phone on a train waits for every byte. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { NOT_SIGNED_IN, signIn, stranger } from './support/browser.ts';

const LIMIT = 200_000;
/** What every proxy can; Brotli makes less of it. */
const OPTIONS = { extraHTTPHeaders: { 'accept-encoding': 'gzip' } };

test('[UI12] the first screen takes less than 200 kB, signed out and signed in, and nothing of another origin', async (t) => {
  await using dir = await tempDir();
  await using server = await startServer(dir.path, {}, ['--workspace', dir.path]);

  const out = await stranger(t, server, OPTIONS);
  out.expect(NOT_SIGNED_IN);
  const signedOut = await sizeOf(out.page, server.url, () => out.page.getByLabel('Token', { exact: true }).waitFor());

  const inside = await stranger(t, server, OPTIONS);
  await signIn(inside, server);
  const signedIn = await sizeOf(inside.page, server.url, () =>
    inside.page.getByRole('button', { name: 'Start the first Session' }).waitFor(),
  );

  for (const [who, files] of Object.entries({ 'signed out': signedOut, 'signed in': signedIn })) {
    const total = files.reduce((sum, { size }) => sum + size, 0);
    const largest = files.toSorted((one, other) => other.size - one.size).slice(0, 4);
    const names = largest.map(({ name, size }) => `${name} ${inKb(size)}`).join(', ');
    t.diagnostic(`${who}: ${inKb(total)} in ${files.length} files, first of all ${names}`);
    assert.ok(total < LIMIT);
  }
});

function inKb(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}

interface File {
  name: string;
  size: number;
}

/**
 * Everything that comes until the screen is drawn and nothing more is on its way, as it was transferred. What the service
 * worker fetches for later is nobody's waiting time.
 */
async function sizeOf(page: Page, url: string, drawn: () => Promise<void>): Promise<File[]> {
  const requests: Request[] = [];
  page.on('requestfinished', (request) => {
    if (!request.serviceWorker()) requests.push(request);
  });
  await page.goto(url);
  await drawn();
  await page.evaluate(() => document.fonts.ready);
  await page.waitForLoadState('networkidle');
  return Promise.all(
    requests.map(async (request) => {
      const { responseBodySize: size } = await request.sizes();
      return { name: new URL(request.url()).pathname, size };
    }),
  );
}
