/** What more a person does and sees in the page, by the names that a screen reader reads out; and the record to compare it with. */
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import type { Event, EventType } from '../../../src/core/event.ts';
import { openReadOnly } from '../../../src/store/sqlite-reader.ts';
import { REPOSITORY } from '../../support/processes.ts';

/** One in the folder of the last one, through the dialog. */
export async function startAnotherSession(page: Page): Promise<void> {
  const before = page.url();
  await page.getByRole('button', { name: 'New Session', exact: true }).first().click();
  await page.getByRole('dialog', { name: 'New Session' }).getByRole('button', { name: 'Create' }).click();
  await page.waitForURL((url) => url.href !== before);
  // Drawn, too: the field is not that of the one before any more.
  await page.getByText('Nothing has been said yet').waitFor();
}

/** What the agent has said. */
export function answers(page: Page): Locator {
  return page.getByRole('article', { name: 'Agent' });
}

/** What the person has said, as the conversation shows it. */
export function prompts(page: Page): Locator {
  return page.getByRole('article', { name: 'You' });
}

/** Above the field: what is still to be sent. */
export function queueOf(page: Page): Locator {
  return page.getByRole('region', { name: 'Queued' });
}

/** The question that waits. @param heading what it asks, as its card says it */
export function approval(page: Page, heading: string): Locator {
  return page.getByRole('region', { name: `Approval needed: ${heading}` });
}

/** No Turn runs any more, as far as the page knows. */
export async function idle(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Stop/ }).waitFor({ state: 'hidden' });
}

/** All that was recorded of a Session, read beside the server that writes it. */
export function logOf(dataDir: string, sessionId: string): Promise<Event[]> {
  return reading(dataDir, async (reader) => (await reader.read(sessionId, -1, 10_000)).map(({ event }) => event));
}

/** What is kept of the text that is being written. */
export function draftOf(dataDir: string, sessionId: string): Promise<string | undefined> {
  return reading(dataDir, async (reader) => (await reader.draft(sessionId))?.text);
}

async function reading<T>(dataDir: string, read: (reader: ReturnType<typeof openReadOnly>) => Promise<T>): Promise<T> {
  const migrationsDir = join(REPOSITORY, 'migrations');
  const reader = openReadOnly({ file: join(dataDir, 'pixir.db'), migrationsDir });
  try {
    return await read(reader);
  } finally {
    await reader.close();
  }
}

export function ofType<T extends EventType>(log: readonly Event[], type: T): Event<T>[] {
  return log.filter((event): event is Event<T> => event.type === type);
}

/** The texts of the prompts that ran, in their order. */
export function promptsIn(log: readonly Event[]): string[] {
  return ofType(log, 'user_message').map(({ data }) =>
    data.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
  );
}
