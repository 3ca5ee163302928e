/** What axe finds in the pages of the UI, in light and in dark: nothing may be left. It looks; it does not replace a person who listens. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import type { AxeResults, RunOptions } from 'axe-core';
import { devices, type Page } from 'playwright-core';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { signIn, stranger, visit } from './support/browser.ts';
import { conversationOf, listOf } from './support/screen.ts';
import { prompt, promptField, startSession } from './support/session.ts';
import { answers, approval, idle } from './support/steps.ts';

const SOURCE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const EVERYTHING = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** What depends on the theme. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

test('[UI55] axe finds nothing in any part of the page, light or dark', async (t) => {
  await using dir = await tempDir();
  await using server = await startServer(dir.path);
  await using visitor = await stranger(t, server);
  const { page } = visitor;
  await page.goto(server.url);
  await page.getByRole('textbox', { name: 'Token' }).fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The server does not know this token.').waitFor();
  visitor.expect(/401|HTTP Authentication failed/);
  await look(page, 'sign in');

  await signIn(visitor, server);
  await page.goto(server.url);
  await page.getByRole('button', { name: 'Start the first Session' }).waitFor();
  await look(page, 'the beginning');
  await startSession(page);

  await prompt(page, 'Why is the sum wrong?');
  await approval(page, 'Run this command?').getByRole('button', { name: 'Allow once' }).click();
  const edit = approval(page, 'Edit sum.mjs?');
  await edit.getByRole('table').waitFor();
  const closed = conversationOf(page).getByRole('button', { name: /^(read|update_plan|bash)/, expanded: false });
  while ((await closed.count()) > 0) await closed.first().click();
  await edit.getByRole('button', { name: 'Always allow…' }).click();
  await promptField(page).fill('/');
  await page.getByRole('listbox').waitFor();
  await look(page, 'open tool cards, a question and commands');
  await promptField(page).fill('');
  await page.getByRole('button', { name: /^Plan/ }).click();
  await page.getByRole('complementary', { name: 'Plan' }).getByText('None. What you always').waitFor();
  await look(page, 'the plan', 'aside');
  await page.getByRole('button', { name: 'Wire', exact: true }).click();
  await page.getByRole('complementary', { name: 'Wire' }).getByRole('listitem').first().waitFor();
  await look(page, 'the wire', 'aside');
  await page.getByRole('button', { name: 'Close the wire' }).click();

  await edit.getByRole('button', { name: 'Allow once' }).click();
  await approval(page, 'Run this command?').getByRole('button', { name: 'Allow once' }).click();
  await page.getByRole('heading', { name: 'Done' }).waitFor();
  await idle(page);
  await page.getByRole('button', { name: 'Find in conversation' }).click();
  await page.getByRole('textbox', { name: 'Find in conversation' }).fill('the');
  await page
    .getByText(/^\d+ of \d+$/)
    .first()
    .waitFor();
  await look(page, 'an answer, searched');
  await page.getByRole('button', { name: 'Session menu' }).click();
  await look(page, 'a menu', '[role=menu]');
  await page.keyboard.press('Escape');

  for (const name of ['New Session', 'Settings', 'Keyboard']) {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog', { name }).waitFor();
    await look(page, name, 'dialog');
    await page.keyboard.press('Escape');
  }
  await page.getByRole('link', { name: 'Log' }).click();
  await page.getByText('chain intact').waitFor();
  const newest = page.getByRole('button', { name: /^Event \d+$/ }).first();
  await newest.click();
  await page.getByRole('region', { name: /^Event \d+ as JSON$/ }).waitFor();
  await look(page, 'the Log');
  await page.goto(server.url);
  await page.getByRole('heading', { name: 'Recent' }).waitFor();
  await look(page, 'home');
  await page.goto(`${server.url}/#/s/ses_unknown`);
  await page.getByRole('heading', { name: 'There is no such Session' }).waitFor();
  await look(page, 'no such Session');
});

test('[UI55] nor on a phone', async (t) => {
  await using dir = await tempDir();
  await using server = await startServer(dir.path);
  await using visitor = await visit(t, server, devices['Pixel 7']);
  const { page } = visitor;
  await startSession(page);
  await promptField(page).fill('write note.txt hello');
  await page.getByRole('button', { name: 'Send' }).click();
  const question = approval(page, 'Write note.txt?');
  await question.getByRole('button', { name: 'Allow once', disabled: false }).waitFor();
  await look(page, 'a question on a phone');
  await question.getByRole('button', { name: 'Allow once' }).click();
  await answers(page).first().waitFor();
  await page.getByRole('button', { name: 'Sessions', exact: true }).click();
  await listOf(page).getByRole('link', { name: /note/ }).waitFor();
  await look(page, 'the drawer');
});

/** In light everything, and in dark what depends on it. @param part where the rest has been looked at before */
async function look(page: Page, where: string, part = 'html'): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SOURCE);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const runOnly = colorScheme === 'light' ? EVERYTHING : { type: 'rule', values: COLOURS };
    assert.deepEqual(await violations(page, part, { runOnly } as RunOptions), [], `${where}, ${colorScheme}`);
  }
}

async function violations(page: Page, part: string, options: RunOptions): Promise<string[]> {
  const found = await page.evaluate(
    async ([within, given]) => {
      const { axe } = window as unknown as { axe: { run(part: string, options: RunOptions): Promise<AxeResults> } };
      return (await axe.run(within, { ...given, resultTypes: ['violations'] })).violations;
    },
    [part, options] as const,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary?.replace(/\s+/g, ' ')}`),
  );
}
