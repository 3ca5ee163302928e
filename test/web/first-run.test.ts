/** The first minutes with the product: a cold server, its launch link, a Session that asks, and a file that is really changed. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { stranger, visit } from './support/browser.ts';
import { sessionIdOf } from './support/screen.ts';
import { startWithLink } from './support/servers.ts';
import { prompt, promptField, startSession } from './support/session.ts';
import { answers, approval, idle, logOf, ofType } from './support/steps.ts';

const COMMAND = 'node sum.test.mjs';
const PROMPT = 'Why is the sum wrong?';

test('[UI30] from the launch link of a cold server to a mended file: what a person allowed is what was done', async (t) => {
  await using dir = await tempDir();
  await using server = await startWithLink(dir.path);
  await using visitor = await stranger(t, server);
  const { page, context } = visitor;
  await page.goto(server.link);
  await startSession(page);
  assert.ok(!page.url().includes('launch'), 'the link is in no history');
  assert.equal((await context.cookies())[0]?.httpOnly, true);

  await prompt(page, PROMPT);
  const run = approval(page, 'Run this command?');
  await run.getByRole('button', { name: 'Allow once', disabled: false }).waitFor();
  const conversation = page.getByRole('region', { name: 'Conversation' });
  const strong = answers(page).first().getByRole('strong');
  assert.match((await strong.textContent()) ?? '', /scripted demonstration: there is no model/);
  for (const name of [/^list .*completed$/, /^read sum\.mjs.*completed$/, /^bash node sum\.test\.mjs.*waits for you/])
    await conversation.getByRole('button', { name }).waitFor();
  await page.getByRole('button', { name: 'Plan, 1 of 4 done' }).click();
  const steps = page.getByRole('complementary', { name: 'Plan' }).getByRole('listitem');
  assert.match(
    (await steps.allTextContents()).join('; '),
    /^Look around, done; Read the module and run its test, in progress.*; Mend the bug, to do; Run the test again, to do$/,
  );

  const command = run.getByRole('group', { name: 'Command' });
  assert.equal(await command.evaluate((box) => box.lastChild?.textContent), COMMAND);
  // By keyboard alone, from the field in which the prompt was written.
  await promptField(page).press('Shift+Tab');
  await page.keyboard.press('a');

  const edit = approval(page, 'Edit sum.mjs?');
  const rows = edit.getByRole('table', { name: 'Changes in sum.mjs' }).getByRole('row');
  await rows.first().waitFor();
  const before = await readFile(join(dir.path, 'playground', 'sum.mjs'), 'utf8');
  assert.match(before, /let i = 1;/);
  assert.deepEqual(await rows.allInnerTexts(), ['−\tlet i = 1;', '+\tlet i = 0;']);
  await edit.getByRole('button', { name: 'Allow once' }).click();
  await approval(page, 'Run this command?').getByRole('button', { name: 'Allow once' }).click();

  await page.getByRole('heading', { name: 'Done' }).waitFor();
  await idle(page);
  await page.getByRole('button', { name: 'Plan, 4 of 4 done' }).waitFor();
  await page.getByRole('navigation', { name: 'Sessions' }).getByRole('link', { name: PROMPT }).waitFor();
  assert.equal(await page.title(), `${PROMPT} · Pixir`);
  const after = await readFile(join(dir.path, 'playground', 'sum.mjs'), 'utf8');
  assert.equal(after, before.replace('let i = 1;', 'let i = 0;'));
  const calls = ofType(await logOf(dir.path, sessionIdOf(page)), 'tool_call').filter(
    ({ data }) => data.name === 'bash',
  );
  assert.deepEqual(
    calls.map(({ data }) => data.args),
    [{ command: COMMAND }, { command: COMMAND }],
  );
});

test('[UI30] what a person rejects is not done, and the model is told', async (t) => {
  await using dir = await tempDir();
  await using server = await startServer(dir.path);
  await using visitor = await visit(t, server);
  const { page } = visitor;
  await startSession(page);
  await prompt(page, 'write note.txt hello');
  const card = approval(page, 'Write note.txt?');
  await card.getByRole('table').waitFor();
  assert.deepEqual(await card.getByRole('row').allInnerTexts(), ['+\thello']);
  await card.getByRole('button', { name: 'Reject', exact: true }).click();
  await page.getByRole('button', { name: /^write note\.txt not allowed/ }).waitFor();
  await answers(page).getByText('denied: the user did not allow it').waitFor();
  await idle(page);
  assert.ok(!(await readdir(join(dir.path, 'playground'))).includes('note.txt'));
});
