/** The list of Sessions: it says of each how it is, at once and after every absence, and is where Sessions are named, forked, found and ended. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startFakeOpenAi } from '../support/fake-openai.ts';
import { call, gate, message } from '../support/fake-openai-steps.ts';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { CUT, visit } from './support/browser.ts';
import { conversationOf, lineOf, listOf, sessionIdOf, until } from './support/screen.ts';
import { kill, samePort, startWithModel } from './support/servers.ts';
import { prompt, promptField, startSession } from './support/session.ts';
import { answers, approval, idle, startAnotherSession } from './support/steps.ts';

/** The one that runs stands last: by then nothing else does. */
const STATES = [/^Needs you: /, 'Failed: Fail', 'Unread: Tell', 'Rest', /^Running: /];

test('[UI58] each Session shows how it is, also after the server was away; the tab says when somebody is needed', async (t) => {
  await using dir = await tempDir();
  await using model = await startFakeOpenAi();
  await using first = await startWithModel(dir.path, model);
  await using visitor = await visit(t, first);
  const { page, expect } = visitor;
  expect(CUT);
  const [fails, tells] = [gate(), gate()];
  const never = { type: 'hold', until: new Promise(() => undefined) } as const;
  const plain = await icon(page);

  await startSession(page);
  model.answer(message('Rested.'));
  await prompt(page, 'Rest');
  await answers(page).getByText('Rested.').waitFor();
  await idle(page);
  assert.equal(await page.title(), 'Rest · Pixir');
  assert.equal(await icon(page), plain);

  await startAnotherSession(page);
  model.answer({ type: 'hold', until: fails.passed }, { type: 'error', code: 'invalid_prompt', message: 'no' });
  await prompt(page, 'Fail');
  await begun(page, 'Fail');
  await startAnotherSession(page);
  model.answer(message('Well, ', tells.passed, 'that is all.'));
  await prompt(page, 'Tell');
  await begun(page, 'Tell');
  await startAnotherSession(page);
  model.answer(message('I go on', never.until));
  await prompt(page, 'Run');
  await answers(page).getByText('I go on').waitFor();
  assert.doesNotMatch(await page.title(), /Needs you/);
  const running = await until(async () => [await icon(page)].find((now) => now !== plain));
  await startAnotherSession(page);
  model.answer(call('c1', 'write', { path: 'a.txt', content: 'a' }));
  await prompt(page, 'Ask');
  await approval(page, 'Write a.txt?').waitFor();
  await page.waitForFunction(() => /^\(1\) Needs you · .* · Pixir$/.test(document.title));
  await until(async () => ![plain, running].includes(await icon(page)));
  await lineOf(page, 'Rest').click();
  for (const { open } of [fails, tells]) open();
  for (const name of STATES) await lineOf(page, name).waitFor();

  await kill(first);
  await page.getByRole('region', { name: 'Connection' }).getByText('Reconnecting').waitFor();
  await writeFile(join(dir.path, 'config.json'), JSON.stringify({ recovery: 'interrupt' }));
  await using _second = await startWithModel(dir.path, model, samePort(first));
  for (const name of ['Unread: Ask', 'Unread: Run', 'Failed: Fail', 'Unread: Tell', 'Rest'])
    await lineOf(page, name).waitFor();
  assert.equal(await listOf(page).getByRole('listitem').count(), STATES.length);
  await page.waitForFunction(() => document.title === 'Rest · Pixir');
  await until(async () => (await icon(page)) === plain);
  await lineOf(page, 'Failed: Fail').click();
  await lineOf(page, 'Fail').waitFor();
});

test('[UI58] Sessions are grouped, found, named, forked, linked to and deleted, for every window at once', async (t) => {
  await using dir = await tempDir();
  const folders = [join(dir.path, 'parser'), join(dir.path, 'printer')];
  for (const folder of folders) await mkdir(folder);
  await using server = await startServer(
    dir.path,
    {},
    folders.flatMap((folder) => ['--workspace', folder]),
  );
  await using one = await visit(t, server);
  await using other = await visit(t, server);
  const [here, there] = [one.page, other.page];

  await startSession(here);
  await prompt(here, 'echo about parsing');
  await lineOf(here, 'echo about parsing').waitFor();
  await here.getByRole('button', { name: 'New Session', exact: true }).click();
  const dialog = here.getByRole('dialog', { name: 'New Session' });
  await dialog.getByRole('textbox', { name: 'Folder' }).fill(folders[1] ?? '');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await conversationOf(here)
    .getByText(folders[1] ?? '')
    .waitFor();
  await prompt(here, 'echo about printing');
  for (const page of [here, there]) {
    for (const name of ['parser', 'printer']) {
      const group = listOf(page).getByRole('heading', { name }).locator('xpath=ancestor::section');
      await group.getByRole('link', { name: `echo about ${name === 'parser' ? 'parsing' : 'printing'}` }).waitFor();
      assert.equal(await group.getByRole('link').count(), 1);
    }
  }
  const search = here.getByRole('searchbox', { name: 'Search Sessions' });
  await search.fill('PARS');
  await lineOf(here, 'echo about printing').waitFor({ state: 'detached' });
  await lineOf(here, 'echo about parsing').waitFor();
  await search.fill('');

  const sessionId = sessionIdOf(here);
  await there.goto(`${server.url}/#/s/${sessionId}`);
  await answers(there).getByText('about printing').waitFor();
  await choose(here, 'echo about printing', 'Rename…');
  await here.getByRole('dialog').getByRole('textbox', { name: 'Title' }).fill('On paper');
  await here.keyboard.press('Enter');
  await there.getByRole('heading', { level: 1, name: 'On paper' }).waitFor();
  for (const page of [here, there]) await lineOf(page, 'On paper').waitFor();

  await choose(here, 'On paper', 'Fork');
  await here.waitForURL((url) => !url.href.endsWith(sessionId));
  await answers(here).getByText('about printing').waitFor();
  const original = listOf(there).locator(`a[href$="${sessionId}"]`);
  assert.equal(await listOf(there).getByRole('listitem').count(), 3);
  await here.goto(`${server.url}/#/s/${sessionId}`);
  await here.getByRole('button', { name: 'Session menu' }).click();
  await here.getByRole('menuitem', { name: 'Delete…' }).click();
  await here.getByRole('button', { name: 'Delete Session' }).click();
  await there.getByRole('heading', { name: 'There is no such Session' }).waitFor();
  await original.waitFor({ state: 'detached' });
  await here.getByRole('heading', { name: 'Pixir', level: 1 }).waitFor();
  assert.equal(await listOf(here).getByRole('listitem').count(), 2);
  await here.goto(`${server.url}/#/s/ses_that_never_was`);
  await here.getByRole('heading', { name: 'There is no such Session' }).waitFor();
  assert.equal(await promptField(here).count(), 0);
});

async function begun(page: Page, text: string): Promise<void> {
  await conversationOf(page).getByText(text, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
}

/** From the menu of a line, which is there when the pointer is. */
async function choose(page: Page, line: string, item: string): Promise<void> {
  await lineOf(page, line).hover();
  await page.getByRole('button', { name: `Actions for ${line}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

function icon(page: Page): Promise<string> {
  return page.locator('link[rel=icon]').evaluate((link) => (link as HTMLLinkElement).href);
}
