/** Two windows of two browsers on one Session: what one does the other shows, and a question is answered once. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startFakeOpenAi } from '../support/fake-openai.ts';
import { call, gate, message } from '../support/fake-openai-steps.ts';
import { tempDir } from '../support/temp-dir.ts';
import { visit } from './support/browser.ts';
import { conversationOf, lineOf, rowsOf, sessionIdOf } from './support/screen.ts';
import { startWithModel } from './support/servers.ts';
import { prompt, startSession } from './support/session.ts';
import { answers, approval, idle, logOf, ofType, startAnotherSession } from './support/steps.ts';

test('[UI50] a prompt of one window streams into the other, and both end with the same', async (t) => {
  await using dir = await tempDir();
  await using model = await startFakeOpenAi();
  await using server = await startWithModel(dir.path, model);
  await using one = await visit(t, server);
  await using other = await visit(t, server);
  const [here, there] = [one.page, other.page];
  await startSession(here);

  const [list, rest] = [gate(), gate()];
  model.answer(message('Let me **look'), { type: 'hold', until: list.passed }, call('c1', 'list', { path: '.' }));
  model.answer(message('It is an emp', rest.passed, 'ty one.'));
  await prompt(here, 'What is in here?');
  await lineOf(there, /^Running: Untitled/).click();
  for (const page of [here, there]) await conversationOf(page).getByText('Let me look').waitFor();
  list.open();
  for (const page of [here, there]) await conversationOf(page).getByText('It is an emp', { exact: true }).waitFor();
  rest.open();

  for (const page of [here, there]) {
    await answers(page).getByText('It is an empty one.').waitFor();
    await idle(page);
    await lineOf(page, 'What is in here?').waitFor();
  }
  const rows = await rowsOf(here);
  assert.equal(rows.length, 4);
  assert.deepEqual(await rowsOf(there), rows);
});

test('[UI51] a question is answered once, wherever; the other window says so; what waits is asked in its order', async (t) => {
  await using dir = await tempDir();
  await using model = await startFakeOpenAi();
  await using server = await startWithModel(dir.path, model);
  await using one = await visit(t, server);
  await using other = await visit(t, server);
  const [here, there] = [one.page, other.page];
  await startSession(here);
  await there.goto(here.url());

  model.answer(call('c1', 'write', { path: 'one.txt', content: 'one' }));
  model.answer(message('The first is done.'));
  await prompt(here, 'Write the first file');
  await approval(here, 'Write one.txt?').waitFor();
  await approval(there, 'Write one.txt?').getByRole('button', { name: 'Allow once' }).click();
  await here.getByText('Answered elsewhere.').first().waitFor();
  await approval(here, 'Write one.txt?').waitFor({ state: 'detached' });
  await answers(here).getByText('The first is done.').waitFor();
  await idle(here);
  assert.ok(existsSync(join(dir.path, 'work', 'one.txt')));
  assert.equal(await there.getByText('Answered elsewhere.').count(), 0);

  model.answer(call('c2', 'write', { path: 'two.txt', content: 'two' }));
  model.answer(message('The second is settled.'));
  await prompt(here, 'Write the second file');
  const [yes, no] = await Promise.all([answerOf(here, 'Allow once'), answerOf(there, 'Reject')]);
  await Promise.all([yes(), no()]);
  for (const page of [here, there]) {
    await answers(page).getByText('The second is settled.').waitFor();
    await idle(page);
  }
  const log = await logOf(dir.path, sessionIdOf(here));
  const decisions = ofType(log, 'permission_decision').map(({ data }) => data.decision);
  assert.equal(decisions.length, 2);
  assert.equal(decisions[1] === 'allow', existsSync(join(dir.path, 'work', 'two.txt')));
  assert.deepEqual(await rowsOf(there), await rowsOf(here));

  const writes = (...names: string[]) =>
    names.map((name) => call(`call_${name}`, 'write', { path: `${name}.txt`, content: name }));
  await startAnotherSession(here);
  model.answer(...writes('three', 'four'));
  await prompt(here, 'Write three and four');
  await approval(here, 'Write three.txt?').waitFor();
  await startAnotherSession(here);
  model.answer(...writes('five'));
  await prompt(here, 'Write five');
  await approval(here, 'Write five.txt?').waitFor();
  for (const page of [here, there]) await page.waitForFunction(() => document.title.startsWith('(2) Needs you'));
  await here.getByRole('link', { name: 'Pixir' }).click();
  const waiting = here.getByRole('main').getByRole('link', { name: /^Needs you:/ });
  await waiting.nth(1).click();
  await approval(here, 'Write three.txt?').getByRole('button', { name: 'Allow once' }).click();
  await approval(here, 'Write four.txt?').getByRole('button', { name: 'Reject', exact: true }).click();
  await answers(here).getByText('Hello from the fake model.').waitFor();
  for (const page of [here, there]) await page.waitForFunction(() => document.title.startsWith('(1) Needs you'));
  assert.deepEqual(
    ofType(await logOf(dir.path, sessionIdOf(here)), 'permission_decision').map(({ data }) => [
      data.callId,
      data.decision,
    ]),
    [
      ['call_three', 'allow'],
      ['call_four', 'deny'],
    ],
  );
  assert.deepEqual(
    ['three', 'four', 'five'].map((name) => existsSync(join(dir.path, 'work', `${name}.txt`))),
    [true, false, false],
  );
});

/** Ready to be pressed at the same moment as another one, whatever becomes of the card meanwhile. */
async function answerOf(page: Page, name: string): Promise<() => Promise<void>> {
  const button = await approval(page, 'Write two.txt?').getByRole('button', { name, exact: true }).elementHandle();
  assert.ok(button);
  await button.waitForElementState('enabled');
  return () => button.evaluate((element) => (element as HTMLElement).click());
}
