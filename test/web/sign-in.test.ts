/** Coming in and leaving: what is said to somebody whom the server does not know, and what stays behind of somebody who has gone. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { environmentFor, runPixir, startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { NOT_SIGNED_IN, stranger, visit } from './support/browser.ts';
import { lineOf, sessionIdOf, until } from './support/screen.ts';
import { startWithLink } from './support/servers.ts';
import { prompt, promptField, startSession } from './support/session.ts';
import { answers, idle, logOf, prompts, promptsIn, queueOf } from './support/steps.ts';

// Each has a server and a window of its own, and mostly waits.
suite('who comes and goes', { concurrency: 2 }, () => {
  test('[UI37] a used link, a wrong token and too many of them are said plainly; a right token comes in', async (t) => {
    await using dir = await tempDir();
    await using server = await startWithLink(dir.path);
    await using invited = await stranger(t, server);
    await invited.page.goto(server.link);
    await invited.page.getByRole('button', { name: 'Start the first Session' }).waitFor();

    await using visitor = await stranger(t, server);
    const { page, context, expect } = visitor;
    expect(NOT_SIGNED_IN);
    expect(/status of 429/);
    await page.goto(server.link);
    await page.getByText('That launch link has been used, or is older than a minute.').waitFor();
    await signIn(page, 'pixir_wrong');
    await page.getByRole('alert').getByText('The server does not know this token.').waitFor();
    const headers = { origin: server.url };
    for (let attempt = 0; attempt < 10; attempt += 1)
      await context.request.post(`${server.url}/api/login`, { data: { token: 'pixir_wrong' }, headers });
    await signIn(page, 'pixir_wrong');
    await page.getByRole('alert').getByText('Too many wrong attempts from here.').waitFor();
    await signIn(page, server.token);
    await page.getByRole('button', { name: 'Start the first Session' }).waitFor();
  });

  test('[UI37] signing out leaves nothing of the person in the browser, in any of its tabs', async (t) => {
    await using dir = await tempDir();
    await using server = await startServer(dir.path);
    await using visitor = await visit(t, server);
    const { page, context, expect } = visitor;
    expect(NOT_SIGNED_IN);
    await startSession(page);
    const sessionId = sessionIdOf(page);
    await prompt(page, 'hang');
    await answers(page).getByText('Waiting until you stop me').waitFor();
    await prompt(page, 'echo Queued.');
    await queueOf(page).waitFor();
    await promptField(page).fill('A draft');
    const other = await context.newPage();
    await other.goto(page.url());
    await answers(other).getByText('Waiting until you stop me').waitFor();
    await openSettings(page);
    await page.getByRole('radio', { name: 'Dark' }).check();
    await keepLargePrompt(page);
    for (const part of [sessionId, 'hang', 'Queued.', 'A draft'])
      await until(async () => (await keptIn(page)).includes(part));

    await page.getByRole('button', { name: 'Sign out' }).click();
    for (const window of [page, other]) {
      await window.getByText('You are signed out. Your Sessions go on at the server.').waitFor();
      assert.equal(await promptField(window).count(), 0);
    }
    const left = JSON.parse(await keptIn(page));
    assert.deepEqual(Object.keys(left), ['pixir.settings']);
    assert.equal(JSON.parse(left['pixir.settings']).theme, 'dark', 'what the device is like stays');
    assert.deepEqual(await page.evaluate(() => indexedDB.databases()), []);
    assert.deepEqual(await context.cookies(), []);

    await signIn(page, server.token);
    await lineOf(page, /^Running: /).click();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await idle(page);
    assert.equal(await promptField(page).inputValue(), '');
    assert.deepEqual(promptsIn(await logOf(dir.path, sessionId)), ['hang']);
  });

  test('[UI37] whose token is revoked is told, and goes on where they were when they sign in again', async (t) => {
    await using dir = await tempDir();
    await using server = await startServer(dir.path);
    await using visitor = await visit(t, server);
    const { page, expect } = visitor;
    expect(NOT_SIGNED_IN);
    await startSession(page);
    await prompt(page, 'echo Said before.');
    await answers(page).getByText('Said before.').waitFor();
    await idle(page);
    await promptField(page).fill('echo Written before.');
    const address = page.url();

    // While the page is open; and while it is not there, which then meets a server that does not know it.
    for (const isOpen of [true, false]) {
      if (!isOpen) await page.goto('about:blank');
      await revokeBrowsers(dir.path);
      if (!isOpen) await page.goto(address);
      await page.getByText('You were signed in, but that is over').waitFor();
      await signIn(page, server.token);
      await answers(page).getByText('Said before.').waitFor();
      assert.deepEqual(await prompts(page).allInnerTexts(), ['echo Said before.']);
      assert.equal(await promptField(page).inputValue(), 'echo Written before.');
      assert.equal(page.url(), address);
    }
    await promptField(page).press('Enter');
    await answers(page).getByText('Written before.').waitFor();
    await idle(page);

    await promptField(page).fill('For nobody else');
    await until(async () => (await keptIn(page)).includes('For nobody else'));
    await revokeBrowsers(dir.path);
    await page.getByText('You were signed in, but that is over').waitFor();
    const created = await runPixir(['token', 'create', 'bobs', '--owner', 'bob'], environmentFor(dir.path));
    await signIn(page, created.stdout.match(/pixir_[\w-]+/)?.[0] ?? assert.fail(created.stderr));
    await page.getByText('There is no such Session').waitFor();
    assert.doesNotMatch(await keptIn(page), /For nobody else/, 'another owner is not shown what the first one wrote');
  });
});

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Token' }).fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function openSettings(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Settings' }).click();
}

/** Everything that a script of the page could read. */
function keptIn(page: Page): Promise<string> {
  return page.evaluate(() => JSON.stringify({ ...localStorage }));
}

/** In the database that takes what is too large for `localStorage`, as the page does it. */
async function keepLargePrompt(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.open('pixir', 1);
        request.onupgradeneeded = () => request.result.createObjectStore('prompts').put('{}', 'pixir:ses_x:prompt');
        request.onerror = () => reject(request.error);
        request.onsuccess = () => {
          request.result.close();
          resolve();
        };
      }),
  );
}

/** Whoever has signed in by a browser. */
async function revokeBrowsers(dataDir: string): Promise<void> {
  const variables = environmentFor(dataDir);
  const { stdout } = await runPixir(['token', 'list'], variables);
  for (const [name = ''] of stdout.matchAll(/^browser-\S+/gm)) {
    const { code } = await runPixir(['token', 'revoke', name], variables);
    assert.equal(code, 0);
  }
}
