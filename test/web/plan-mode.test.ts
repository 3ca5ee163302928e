/** Plan mode from the browser: the person sees that nothing will be changed, and nothing is. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { visit } from './support/browser.ts';
import { prompt, startSession } from './support/session.ts';
import { answers, approval, idle } from './support/steps.ts';

test('[UI32] plan mode is chosen, shown and kept over a reload, and changes no file until /build', async (t) => {
  await using dir = await tempDir();
  await using server = await startServer(dir.path);
  await using visitor = await visit(t, server);
  const { page } = visitor;
  const files = () => readdir(join(dir.path, 'playground'));
  await startSession(page);
  const before = await files();
  await page.getByRole('button', { name: 'Mode: Build' }).click();
  await page.getByRole('menuitemradio', { name: 'Plan' }).click();
  await page.getByRole('button', { name: 'Mode: Plan' }).waitFor();
  await prompt(page, 'write note.txt hello');
  await page.getByRole('button', { name: /^write note\.txt not allowed/ }).waitFor();
  await answers(page).getByText('denied: this Session is read-only').waitFor();
  await idle(page);
  assert.deepEqual(await files(), before);

  await page.reload();
  await page.getByRole('button', { name: 'Mode: Plan' }).waitFor();
  await prompt(page, '/build write note.txt hello');
  await approval(page, 'Write note.txt?').getByRole('button', { name: 'Allow once' }).click();
  await page.getByRole('button', { name: 'Mode: Build' }).waitFor();
  await idle(page);
  assert.deepEqual((await files()).sort(), [...before, 'note.txt'].sort());
});
