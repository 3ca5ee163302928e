/** What a person does in nearly every test: begin the first Session, and prompt. */
import type { Page } from 'playwright-core';

/** The page of a server that has none yet. @returns when it can be prompted */
export async function startSession(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Start the first Session' }).click();
  await promptField(page).waitFor();
}

export async function prompt(page: Page, text: string): Promise<void> {
  await promptField(page).fill(text);
  await promptField(page).press('Enter');
}

export function promptField(page: Page) {
  return page.getByRole('textbox', { name: 'Prompt' });
}
