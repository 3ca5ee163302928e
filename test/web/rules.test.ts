/** Decisions that are remembered: a person sees the whole rule before they can choose it, and can end it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { visit } from './support/browser.ts';
import { sessionIdOf } from './support/screen.ts';
import { prompt, startSession } from './support/session.ts';
import { answers, approval, idle, logOf, ofType } from './support/steps.ts';

const RULE = 'Always allow "bash" with "touch once"';

test('[UI52] a rule is shown in full before it can be chosen, holds for its call alone, and is asked again once revoked', async (t) => {
  await using dir = await tempDir();
  await using server = await startServer(dir.path);
  await using visitor = await visit(t, server);
  const { page } = visitor;
  await startSession(page);
  const question = approval(page, 'Run this command?');
  const answered = async (count: number) => {
    await answers(page)
      .nth(count - 1)
      .waitFor();
    await idle(page);
  };

  await prompt(page, 'bash touch once');
  const remember = question.getByRole('button', { name: 'Allow and remember' });
  await question.getByRole('button', { name: 'Always allow…' }).waitFor();
  assert.equal(await remember.count(), 0);
  assert.equal(await question.getByText(RULE).count(), 0);
  await question.getByRole('button', { name: 'Always allow…' }).click();
  await question.getByText(RULE, { exact: true }).waitFor();
  await remember.click();
  await answered(1);

  await prompt(page, 'bash touch once');
  await answered(2);
  await prompt(page, 'bash touch twice');
  await question.getByRole('button', { name: 'Reject', exact: true }).click();
  await answered(3);

  await page.getByRole('button', { name: 'Plan', exact: true }).click();
  const panel = page.getByRole('complementary', { name: 'Plan' });
  const rule = panel.getByRole('listitem').filter({ hasText: RULE });
  await rule.waitFor();
  assert.equal(await panel.getByRole('listitem').count(), 1);
  await rule.getByRole('button', { name: 'Revoke' }).click();
  await rule.waitFor({ state: 'detached' });
  await prompt(page, 'bash touch once');
  await question.getByRole('button', { name: 'Allow once' }).click();
  await answered(4);

  const decisions = ofType(await logOf(dir.path, sessionIdOf(page)), 'permission_decision');
  const rules = decisions.map(
    ({ data }) => `${data.decision} ${data.by.startsWith('rule:') ? 'by rule' : 'by person'}`,
  );
  assert.deepEqual(rules, ['allow by person', 'allow by rule', 'deny by person', 'allow by person']);
});
