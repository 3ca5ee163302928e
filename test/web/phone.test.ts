/** The first run on a phone, by finger: everything fits, nothing is too small to hit, and the field stays above the keyboard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { visit } from './support/browser.ts';
import { lineOf, listOf } from './support/screen.ts';
import { promptField, startSession } from './support/session.ts';
import { answers, approval, idle } from './support/steps.ts';

const LARGE = { width: 390, height: 844 };
const SMALL = { width: 360, height: 640 };

test('[UI53] the first run on a phone: every screen fits a large and a small one', async (t) => {
  await using dir = await tempDir();
  await using server = await startServer(dir.path);
  await using visitor = await visit(t, server, {
    viewport: LARGE,
    hasTouch: true,
    isMobile: true,
    reducedMotion: 'reduce',
  });
  const { page } = visitor;
  const tap = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).tap();
  await page.getByRole('button', { name: 'Start the first Session' }).waitFor();
  await fits(page, 'the beginning');
  await startSession(page);
  await fits(page, 'an empty Session');

  await promptField(page).tap();
  await promptField(page).fill('write docs/a-file-with-a-rather-long-name-for-a-phone.md hello');
  await underKeyboard(page);
  await tap('Send');
  const question = approval(page, 'Write docs/a-file-with-a-rather-long-name-for-a-phone.md?');
  await question.getByRole('button', { name: 'Always allow…' }).tap();
  await question.getByRole('button', { name: 'Allow and remember' }).waitFor();
  await fits(page, 'a question');
  await question.getByRole('button', { name: 'Allow once', disabled: false }).tap();
  await answers(page).getByText('Done: ').waitFor();
  await idle(page);
  await fits(page, 'an answer');

  for (const name of ['Plan', 'Wire']) {
    await tap('Session menu');
    await fits(page, 'the menu');
    await page.getByRole('menuitem', { name }).tap();
    await page.getByRole('complementary', { name }).waitFor();
    await fits(page, `the panel ${name}`);
    await tap(`Close the ${name.toLowerCase()}`);
  }
  await page.getByRole('link', { name: 'Log' }).tap();
  await tap('Event 2');
  await page.getByRole('region', { name: 'Event 2 as JSON' }).waitFor();
  await fits(page, 'the Log');
  await page.getByRole('link', { name: 'Conversation' }).tap();

  await tap('Sessions');
  await lineOf(page, /^write docs/).waitFor();
  await fits(page, 'the drawer');
  for (const name of ['Settings', 'Keyboard', 'New Session']) {
    await listOf(page).getByRole('button', { name, exact: true }).tap();
    await page.getByRole('dialog', { name }).waitFor();
    await fits(page, name);
    if (name === 'New Session') break;
    await tap('Close');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await tap('Create');
  await page.getByText('Nothing has been said yet').waitFor();
  await lineOf(page, /^write docs/).waitFor({ state: 'hidden' });
});

/** Chromium does not show a keyboard here; it does what the page asks for then: the page is as high as what is left. */
async function underKeyboard(page: Page): Promise<void> {
  assert.match(
    (await page.locator('meta[name=viewport]').getAttribute('content')) ?? '',
    /interactive-widget=resizes-content/,
  );
  const height = SMALL.height - 300;
  await page.setViewportSize({ ...SMALL, height });
  const box = await promptField(page).boundingBox();
  const send = await page.getByRole('button', { name: 'Send' }).boundingBox();
  assert.ok(box && send && box.y > 0 && box.y + box.height <= height && send.y + send.height <= height);
  assert.deepEqual(await page.evaluate(outside, SMALL.width), []);
  await page.setViewportSize(LARGE);
}

/** Nothing stands out of the window, and whatever is to be hit can be hit. */
async function fits(page: Page, where: string): Promise<void> {
  for (const size of [SMALL, LARGE]) {
    await page.setViewportSize(size);
    assert.deepEqual(await page.evaluate(outside, size.width), [], `${where}, ${size.width}: outside of the window`);
    assert.deepEqual(await page.evaluate(tooSmall), [], `${where}, ${size.width}: too small for a finger`);
  }
}

/**
 * What is cut off, or would scroll the page sideways. Inside of what scrolls by itself, or shortens a text, it may be. A
 * phone that shows such a page smaller says that its window is wider: it is not asked.
 */
function outside(screenWidth: number): string[] {
  const { scrollWidth } = document.scrollingElement ?? document.documentElement;
  const found = [...document.body.querySelectorAll('*')].filter((element) => {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
    const { left, right, width, height } = element.getBoundingClientRect();
    if (width <= 1 || height <= 1 || (left >= -1 && right <= screenWidth + 1)) return false;
    const isControl = element.matches('button, a, input, select, textarea, summary');
    for (let around = element.parentElement; around; around = around.parentElement) {
      const { overflowX } = getComputedStyle(around);
      if (overflowX === 'auto' || overflowX === 'scroll' || (!isControl && overflowX !== 'visible')) return false;
    }
    return true;
  });
  const texts = found.map((element) => `${element.tagName}.${element.className} ${element.textContent?.slice(0, 40)}`);
  return scrollWidth > screenWidth ? [`the page is ${scrollWidth} wide`, ...texts] : texts;
}

/** 40 by 40, or 24 by 24 where nothing else is as near. Links inside of a text are as high as the text. */
function tooSmall(): string[] {
  const all =
    'button, a, input:not([type=radio], [type=checkbox], [hidden]), select, textarea, summary, label:has(input)';
  const top = document.querySelector('dialog[open], [popover]:popover-open') ?? document.body;
  const targets = [...top.querySelectorAll(all)].filter((element) => {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
    const { width, height, x, y } = element.getBoundingClientRect();
    return width > 1 && document.elementFromPoint(x + width / 2, y + height / 2)?.closest(all) === element;
  });
  return targets.flatMap((element) => {
    const { width, height, x, y } = element.getBoundingClientRect();
    if ((width >= 40 && height >= 40) || element.matches('p a')) return [];
    const [centreX, centreY] = [x + width / 2, y + height / 2];
    const isNear = targets.some((other) => {
      const box = other.getBoundingClientRect();
      const [aside, above] = [
        Math.max(box.left - centreX, centreX - box.right, 0),
        Math.max(box.top - centreY, centreY - box.bottom, 0),
      ];
      return other !== element && Math.hypot(aside, above) < 20;
    });
    if (width >= 24 && height >= 24 && !isNear) return [];
    const name = element.getAttribute('aria-label') ?? element.textContent?.slice(0, 40);
    return [`${element.tagName}.${element.className} ${name}: ${width.toFixed()} by ${height.toFixed()}`];
  });
}
