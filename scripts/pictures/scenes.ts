/** What is done to come to the first states, as a person does it: by the names on the screen. */
import type { Locator, Page } from 'playwright-core';
import { gate } from '../../test/support/fake-openai-steps.ts';
import { pictureOfCheckout } from './checkout.ts';
import * as story from './story.ts';
import { shoot, type World } from './world.ts';

export interface Scene {
  world: World;
  page: Page;
  phone: Page;
}

export async function prompt(page: Page, text: string): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Prompt' });
  await field.fill(text);
  await field.press('Enter');
}

function approval(page: Page, heading: string): Locator {
  return page.getByRole('region', { name: `Approval needed: ${heading}` });
}

/** Waits until the conversation shows it. */
export async function said(page: Page, text: string): Promise<void> {
  await page.getByRole('region', { name: 'Conversation' }).getByText(text).waitFor({ timeout: 60_000 });
}

/** Text that has not grown for a while has "Working…" below it: in each picture, or by chance. */
export async function paused(page: Page): Promise<void> {
  await page.getByText('Working…', { exact: true }).waitFor();
}

export async function ended(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Stop/ }).waitFor({ state: 'hidden' });
}

async function rename(page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).getByRole('button').click();
  const field = page.getByRole('textbox', { name: 'Session title' });
  await field.fill(title);
  await field.press('Enter');
  await page.getByRole('link', { name: title }).waitFor();
}

/** What was decided in the other window is said for some seconds. */
async function forgotten(phone: Page): Promise<void> {
  const note = phone.getByRole('main').getByText('Answered elsewhere.');
  await note.waitFor();
  await note.waitFor({ state: 'hidden' });
}

export async function takeBeginning({ world, page, phone }: Scene): Promise<void> {
  const stranger = await world.stranger();
  await stranger.getByRole('textbox', { name: 'Token' }).waitFor();
  await shoot(stranger, 'sign-in');
  await stranger.getByRole('textbox', { name: 'Token' }).fill('pixir_not_the_right_one');
  await stranger.keyboard.press('Enter');
  await stranger.getByRole('alert').waitFor();
  await shoot(stranger, 'sign-in-refused');
  await stranger.context().close();

  await page.getByRole('button', { name: 'Start the first Session' }).waitFor();
  await shoot(page, 'first-run');
  await world.kill();
  await world.recordPast();
  await world.restart();
  await page
    .getByRole('link', { name: /Format prices/ })
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'New Session', exact: true }).first().click();
  const dialog = page.getByRole('dialog', { name: 'New Session' });
  await dialog.getByRole('button', { name: 'src' }).waitFor();
  await shoot(page, 'new-session');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('textbox', { name: 'Prompt' }).waitFor();
  await shoot(page, 'session-empty');
  await rename(page, story.TITLE);
  await phone.goto(page.url());
  await phone.getByRole('textbox', { name: 'Prompt' }).waitFor();
}

export async function takeAsking({ world: { fake }, page, phone }: Scene): Promise<void> {
  for (const steps of story.UNTIL_COMMAND) fake.answer(...steps);
  await prompt(page, story.PROMPT);
  const run = approval(page, 'Run this command?');
  await run.getByRole('button', { name: 'Allow once', disabled: false }).waitFor();
  await approval(phone, 'Run this command?').waitFor();
  await shoot(page, 'approval-command');
  await shoot(phone, 'phone-approval-command');
  fake.answer(...story.EDIT);
  await run.getByRole('button', { name: 'Allow once' }).click();

  const edit = approval(page, 'Edit src/cart.ts?');
  await edit.getByRole('table').waitFor();
  await approval(phone, 'Edit src/cart.ts?').getByRole('table').waitFor();
  await forgotten(phone);
  await shoot(page, 'approval-edit', { sharp: true });
  await shoot(phone, 'phone-approval-edit');
  await edit.getByRole('button', { name: 'Always allow…' }).click();
  await shoot(page, 'approval-rule');
  await edit.getByRole('button', { name: 'Always allow…' }).click();
}

export async function takeConversation({ world: { fake }, page, phone }: Scene): Promise<void> {
  const middle = gate();
  for (const steps of [story.TEST_AGAIN, story.PLAN_DONE, story.summary(middle.passed)]) fake.answer(...steps);
  await approval(page, 'Edit src/cart.ts?').getByRole('button', { name: 'Allow once', disabled: false }).click();
  await approval(page, 'Run this command?').getByRole('button', { name: 'Allow once', disabled: false }).click();
  for (const where of [page, phone]) await said(where, 'VIP, 15%').then(() => paused(where));
  await forgotten(phone);
  await shoot(page, 'streaming');
  await shoot(phone, 'phone-streaming');
  middle.open();
  await ended(page);
  await shoot(page, 'conversation');
  await shoot(phone, 'phone-conversation');
  await page.getByRole('button', { name: 'Plan, 4 of 4 done' }).click();
  await shoot(page, 'plan-panel');
  await page.getByRole('button', { name: 'Close the plan' }).click();
  await takeDiff(page);
  await takeImage(fake, page);
}

async function takeDiff(page: Page): Promise<void> {
  const card = page.getByRole('button', { name: /^edit src\/cart\.ts/ });
  await card.scrollIntoViewIfNeeded();
  if ((await card.getAttribute('aria-expanded')) === 'false') await card.click();
  const diff = page.getByRole('figure', { name: /Change of src\/cart\.ts/ });
  await diff.scrollIntoViewIfNeeded();
  await shoot(page, 'diff-unified');
  await diff.getByRole('button', { name: 'Show side by side' }).click();
  await shoot(page, 'diff-split');
  await diff.getByRole('button', { name: 'Show unified' }).click();
}

async function takeImage(fake: World['fake'], page: Page): Promise<void> {
  const buffer = await pictureOfCheckout(page);
  await page.getByLabel('Files to attach').setInputFiles({ name: 'checkout.png', mimeType: 'image/png', buffer });
  await page.getByRole('list', { name: 'Attachments' }).getByText('checkout.png').waitFor();
  await page.getByRole('textbox', { name: 'Prompt' }).fill(story.ABOUT_IMAGE);
  await shoot(page, 'attachment');
  fake.answer(...story.ON_IMAGE);
  await page.keyboard.press('Enter');
  await said(page, 'which is not part of this folder');
  await ended(page);
  await shoot(page, 'image');
}

export async function takeLog({ page, phone }: Scene): Promise<void> {
  for (const [where, name] of [
    [page, 'timeline'],
    [phone, 'phone-timeline'],
  ] as const) {
    await where.getByRole('navigation', { name: 'View' }).getByRole('link', { name: 'Log' }).click();
    await where.getByRole('main').getByText('chain intact').waitFor();
    await shoot(where, name);
  }
  await page
    .getByRole('button', { name: /^Event \d+$/ })
    .nth(3)
    .click();
  await shoot(page, 'timeline-event');
  for (const where of [page, phone])
    await where.getByRole('navigation', { name: 'View' }).getByRole('link', { name: 'Conversation' }).click();
}

export async function takeQueue({ world: { fake }, page, phone }: Scene): Promise<void> {
  const middle = gate();
  fake.answer(...story.explanation(middle.passed));
  await prompt(page, story.LONG_PROMPT);
  for (const where of [page, phone]) await said(where, 'free shipping by enter');
  await prompt(page, story.QUEUED);
  await page.getByRole('region', { name: 'Queued' }).waitFor();
  for (const where of [page, phone]) await paused(where);
  await shoot(page, 'queue');
  await shoot(phone, 'phone-running');
  fake.answer(...story.QUEUED_ANSWER);
  middle.open();
  await said(page, 'one of 49.99 is not');
  await ended(page);
}
