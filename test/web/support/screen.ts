/** Where things stand on the page, by the names that people and screen readers know them by. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';

export function conversationOf(page: Page): Locator {
  return page.getByRole('region', { name: 'Conversation' });
}

/** What a person can read of the conversation, row by row. */
export function rowsOf(page: Page): Promise<string[]> {
  return conversationOf(page).locator('[data-row]').allInnerTexts();
}

/** The list beside everything else. */
export function listOf(page: Page): Locator {
  return page.getByRole('navigation', { name: 'Sessions' });
}

/** A line of the list; its name begins with how the Session is, where that is worth a word. */
export function lineOf(page: Page, name: string | RegExp): Locator {
  return listOf(page).getByRole('link', { name, exact: true });
}

/** Of the Session on the screen. */
export function sessionIdOf(page: Page): string {
  const [, sessionId = assert.fail(page.url())] = /#\/s\/([^/]+)/.exec(page.url()) ?? [];
  return decodeURIComponent(sessionId);
}

/** Asks until there is an answer: for what no element of a page tells of. */
export async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    const found = await ask();
    if (found) return found;
    assert.ok(performance.now() < deadline, 'it never came to be so');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
