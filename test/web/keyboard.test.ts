/** The whole of a first visit without a mouse: where the focus goes, that it can be seen there, and that it comes back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { stranger, visit } from './support/browser.ts';
import { lineOf, listOf } from './support/screen.ts';
import { prompt, promptField, startSession } from './support/session.ts';
import { answers, approval, idle, startAnotherSession } from './support/steps.ts';

test('[UI54] from signing in to a finished Turn by keyboard alone, and once through the page, always in sight', async (t) => {
  await using dir = await tempDir();
  await using server = await startServer(dir.path);
  // A mark that fades in could not be told from none.
  await using visitor = await stranger(t, server, { reducedMotion: 'reduce' });
  const { page } = visitor;
  visitor.expect(/401|HTTP Authentication failed/);
  await page.goto(server.url);
  await focused(page.getByRole('textbox', { name: 'Token' }));
  await page.keyboard.type(server.token);
  await page.keyboard.press('Enter');
  const start = page.getByRole('button', { name: 'Start the first Session' });
  await start.and(page.locator(':enabled')).waitFor();
  await tabTo(page, start);
  await page.keyboard.press('Enter');

  await focused(promptField(page));
  await page.keyboard.type('write note.txt hello');
  await page.keyboard.press('Enter');
  const allow = approval(page, 'Write note.txt?').getByRole('button', { name: 'Allow once', disabled: false });
  await allow.waitFor();
  await focused(promptField(page));
  await tabTo(page, allow, 'Shift+Tab');
  await page.keyboard.press('Enter');
  await answers(page).getByText('Done: ').waitFor();
  await idle(page);
  await focused(promptField(page));

  await page.keyboard.type('Why is the sum wrong?');
  await page.keyboard.press('Enter');
  await approval(page, 'Run this command?').getByRole('button', { name: 'Allow once', disabled: false }).waitFor();
  // Out of the page at its end, and once through all of it.
  while (await pressTab(page));
  const stops: Stop[] = [];
  for (let stop = await pressTab(page); stop && stops.length < 100; stop = await pressTab(page)) stops.push(stop);
  for (const wanted of [/^Pixir$/, /^list/, /^update_plan/, /^read/, /^bash/, /^Allow once/, /^Prompt$/, /^Stop$/])
    assert.ok(stops.filter(({ name }) => wanted.test(name)).length === 1, `${wanted}`);
  const names = (wrong: Stop[]) => wrong.map(({ name }) => name);
  assert.deepEqual(names(stops.filter(({ isSeen }) => !isSeen)), [], 'the focus is to be seen');
  assert.deepEqual(names(stops.slice(1).filter(({ isNext }) => !isNext)), [], 'in the order of the page');
});

test('[UI54] Escape closes what is open and gives the focus back; keys go where their list says', async (t) => {
  await using dir = await tempDir();
  await using server = await startServer(dir.path);
  await using visitor = await visit(t, server);
  const { page } = visitor;
  await startSession(page);
  const dialogs = { 'New Session': 'New Session', Keyboard: 'Keyboard', Settings: 'Settings' };
  for (const [button, dialog] of Object.entries(dialogs)) {
    const opener = page.getByRole('button', { name: button, exact: true });
    await opener.press('Enter');
    await page.getByRole('dialog', { name: dialog }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await focused(opener);
  }
  for (const [name, role] of [
    ['Session menu', 'menuitem'],
    [/^Mode: /, 'menuitemradio'],
    [/^Actions for /, 'menuitem'],
  ] as const) {
    const opener = page.getByRole('button', { name });
    await opener.press('Enter');
    await focused(page.getByRole('menu').getByRole(role).first());
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'hidden' });
    await focused(opener);
  }
  const title = page.getByRole('heading', { level: 1 }).getByRole('button');
  await title.press('F2');
  await page.getByRole('textbox', { name: 'Session title' }).press('Escape');
  await focused(title);

  await prompt(page, 'echo first');
  await lineOf(page, 'echo first').waitFor();
  await startAnotherSession(page);
  await prompt(page, 'echo second');
  await lineOf(page, 'echo second').waitFor();
  await idle(page);

  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).getByText('Next Session').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  const current = listOf(page).locator('[aria-current=page]');
  for (const [key, name] of [
    ['j', 'echo first'],
    ['Alt+ArrowUp', 'echo second'],
    ['Alt+ArrowDown', 'echo first'],
    ['Alt+1', 'echo second'],
  ] as const) {
    await page.keyboard.press(key);
    await current.and(lineOf(page, name)).waitFor();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await focused(promptField(page));
    await page.keyboard.press('Escape');
  }
  await page.keyboard.press('/');
  await focused(page.getByRole('searchbox', { name: 'Search Sessions' }));
  await page.keyboard.type('first');
  await lineOf(page, 'echo second').waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'echo first' }).waitFor();

  for (const key of ['Escape', 'Escape', 'p']) await page.keyboard.press(key);
  const panel = page.getByRole('complementary', { name: 'Plan' });
  await panel.waitFor();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await page.keyboard.press('f');
  await focused(page.getByRole('textbox', { name: 'Find in conversation' }));
  await page.keyboard.press('Escape');
  await page.getByRole('search').waitFor({ state: 'detached' });
});

async function focused(locator: Locator): Promise<void> {
  await locator.and(locator.page().locator(':focus')).waitFor();
}

/** @returns where it has come; undefined: out of the page */
async function pressTab(page: Page, key = 'Tab'): Promise<Stop | undefined> {
  await page.keyboard.press(key);
  // What comes into sight is drawn before somebody presses again.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  return focusNow(page);
}

/** By Tab alone, as far as a person would go. */
async function tabTo(page: Page, target: Locator, key = 'Tab'): Promise<void> {
  const element = await target.elementHandle();
  for (let presses = 0; presses < 40; presses += 1) {
    const stop = await pressTab(page, key);
    assert.ok(stop === undefined || stop.isSeen, `the focus is not to be seen on ${stop?.name}`);
    if (await element?.evaluate((wanted) => wanted === document.activeElement)) return;
  }
  assert.fail('Tab does not come there');
}

interface Stop {
  name: string;
  /** Stands behind the stop before. */
  isNext: boolean;
  /** In the window, with a mark around it that it has only now. */
  isSeen: boolean;
}

function focusNow(page: Page): Promise<Stop | undefined> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!(element instanceof HTMLElement) || element === document.body) return undefined;
    const box = element.getBoundingClientRect();
    const isInWindow =
      box.width > 0 && box.top < innerHeight && box.bottom > 0 && box.left < innerWidth && box.right > 0;
    const memory = window as unknown as { lastStop?: Element };
    const last = memory.lastStop;
    memory.lastStop = element;
    const marks = [element, element.parentElement, element.parentElement?.parentElement].map(markOf);
    element.blur();
    const before = [element, element.parentElement, element.parentElement?.parentElement].map(markOf);
    element.focus();
    return {
      name: (element.getAttribute('aria-label') ?? (element.innerText || element.tagName)).replace(/\s+/g, ' '),
      isNext: !last?.isConnected || Boolean(last.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING),
      isSeen: isInWindow && marks.some((mark, place) => mark !== before[place]),
    };

    function markOf(of: Element | null | undefined): string {
      if (!of) return '';
      const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor } = getComputedStyle(of);
      return [outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor].join(' ');
    }
  });
}
