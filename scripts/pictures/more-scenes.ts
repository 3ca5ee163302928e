/** The other states: plan mode, settings, a server that is killed, and a list in which everything happens at once. */
import { connect } from '../../src/client/connect.ts';
import { call, gate, type ModelStep, message } from '../../test/support/fake-openai-steps.ts';
import { sessionOf } from './past.ts';
import { ended, paused, prompt, type Scene, said } from './scenes.ts';
import * as story from './story.ts';
import { shoot } from './world.ts';

export async function takePlanMode({ world: { fake }, page }: Scene): Promise<void> {
  // As long as it takes to have read what is on the screen.
  await page.waitForTimeout(1_000);
  await page.getByRole('button', { name: 'New Session', exact: true }).first().click();
  const dialog = page.getByRole('dialog', { name: 'New Session' });
  await dialog.getByLabel('Mode', { exact: true }).selectOption('plan');
  const before = page.url();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.waitForURL((url) => url.href !== before);
  for (const steps of story.PLAN_ANSWER) fake.answer(...steps);
  await prompt(page, story.PLAN_PROMPT);
  await said(page, 'Switch to build mode');
  await ended(page);
  await page.getByRole('button', { name: 'Plan, 0 of 4 done' }).click();
  await shoot(page, 'plan-mode');
  await page.getByRole('button', { name: 'Close the plan' }).click();
}

export async function takeSettings({ page, phone }: Scene): Promise<void> {
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('dialog', { name: 'Settings' }).getByText('pixir').first().waitFor();
  await shoot(page, 'settings');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Keyboard', exact: true }).click();
  await page.getByRole('dialog').waitFor();
  await shoot(page, 'keys');
  await page.keyboard.press('Escape');
  await phone.getByRole('button', { name: 'Sessions', exact: true }).click();
  await phone.getByRole('button', { name: 'Settings' }).click();
  await phone.getByRole('dialog', { name: 'Settings' }).waitFor();
  await shoot(phone, 'phone-settings');
  await phone.getByRole('dialog', { name: 'Settings' }).getByRole('button', { name: 'Close' }).click();
  await phone.getByRole('button', { name: 'Close the list' }).click();
}

export async function takeCut({ world, page, phone }: Scene): Promise<void> {
  const { fake } = world;
  const [first, second] = [gate(), gate()];
  await page.getByRole('link', { name: story.TITLE }).first().click();
  fake.answer(...story.untilCut(first.passed));
  await prompt(page, story.CUT_PROMPT);
  for (const where of [page, phone]) await said(where, 'since the change nothing ro');
  await page.getByRole('button', { name: 'Wire' }).click();
  // What was said is saved every 200 ms.
  await page.waitForTimeout(400);
  await world.kill();
  for (const where of [page, phone]) await where.getByRole('region', { name: 'Connection' }).first().waitFor();
  await shoot(page, 'reconnecting');
  await shoot(phone, 'phone-reconnecting');
  fake.answer(...story.continued(second.passed));
  await world.restart();
  await said(page, 'Nothing divides afterwards');
  await paused(page);
  await shoot(page, 'caught-up');
  first.open();
  second.open();
  await ended(page);
  await page.getByRole('button', { name: 'Close the wire' }).click();
}

export async function takeList({ world, page, phone }: Scene): Promise<void> {
  const { fake, url, token } = world;
  const client = connect(url, { token });
  const held = gate();
  const begin = async (id: Parameters<typeof sessionOf>[0], text: string, ...steps: readonly ModelStep[]) => {
    if (steps.length > 0) fake.answer(...steps);
    else fake.respond(400, { error: { message: 'The model is overloaded.', type: 'invalid_request_error' } });
    const asked = fake.next();
    const session = await client.session(sessionOf(id));
    const answered = session.prompt(text);
    await asked;
    return answered;
  };
  await begin('prices', 'Once more with the currency.', message('Prices have their currency now.'));
  await begin('retry', 'Try it with the sandbox of the bank.').catch(() => undefined);
  begin('openapi', 'Check the examples.', call('x1', 'bash', { command: 'npx redocly lint openapi.yaml' })).catch(
    () => undefined,
  );
  await page
    .getByRole('link', { name: /^Needs you/ })
    .first()
    .waitFor();
  begin('focus', 'And in the menu?', message('I try it with the ', held.passed, 'keyboard alone.')).catch(
    () => undefined,
  );
  await page
    .getByRole('link', { name: /^Running/ })
    .first()
    .waitFor();
  await shoot(page, 'list');
  await page.getByRole('link', { name: 'Pixir' }).click();
  await shoot(page, 'home');
  await phone.getByRole('button', { name: 'Sessions', exact: true }).click();
  await shoot(phone, 'phone-list');
  await phone.getByRole('link', { name: 'Pixir' }).click();
  await shoot(phone, 'phone-home');
  // Last: who has seen it has read it.
  await page
    .getByRole('main')
    .getByRole('link', { name: /^Failed/ })
    .click();
  await page.getByText('The Turn failed').waitFor();
  await page.context().setOffline(true);
  await prompt(page, 'Then with the one of the other bank.');
  await page.getByRole('region', { name: 'Connection' }).getByText('This device has no network').waitFor();
  await shoot(page, 'failed-offline');
  client.close();
  held.open();
}
