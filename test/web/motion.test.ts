/** For people whom moving things make ill: where the system says so, nothing moves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { visit } from './support/browser.ts';
import { listOf } from './support/screen.ts';
import { prompt, startSession } from './support/session.ts';
import { answers } from './support/steps.ts';

const LONGEST_MS = 10;

test('[UI59] with reduced motion no animation lasts', async (t) => {
  await using dir = await tempDir();
  await using server = await startServer(dir.path);
  const viewport = { width: 390, height: 844 };
  await using visitor = await visit(t, server, { viewport, reducedMotion: 'reduce' });
  const { page } = visitor;
  await startSession(page);
  await prompt(page, 'hang');
  await answers(page).getByText('Waiting until you stop me').waitFor();
  assert.ok((await moving(page, 0)).length > 0, 'there is something that would move');
  assert.deepEqual(await moving(page, LONGEST_MS), []);
  await page.getByRole('button', { name: 'Sessions', exact: true }).click();
  await listOf(page).getByRole('button', { name: 'New Session', exact: true }).waitFor();
  assert.deepEqual(await moving(page, LONGEST_MS), []);
  await listOf(page).getByRole('button', { name: 'New Session', exact: true }).click();
  await page.getByRole('dialog').waitFor();
  assert.deepEqual(await moving(page, LONGEST_MS), []);
});

/** What moves for longer, or would at the next change. */
function moving(page: Page, longest: number): Promise<string[]> {
  return page.evaluate((limit) => {
    const now = document.getAnimations().map((animation) => {
      const end = Number(animation.effect?.getComputedTiming().endTime);
      return { end, what: `${(animation.effect as KeyframeEffect | null)?.target?.className}: ${end} ms` };
    });
    const styled = [...document.querySelectorAll('*')].flatMap((element) =>
      [null, '::before', '::after', '::backdrop'].flatMap((part) => {
        const { transitionDuration, animationDuration, animationName } = getComputedStyle(element, part);
        const animated = animationName === 'none' ? [] : animationDuration.split(', ');
        return [...transitionDuration.split(', '), ...animated].map((text) => {
          const end = Number.parseFloat(text) * (text.endsWith('ms') ? 1 : 1_000);
          return { end, what: `${element.tagName}.${element.className}${part ?? ''}: ${text}` };
        });
      }),
    );
    return [...now, ...styled].filter(({ end }) => !(end <= limit)).map(({ what }) => what);
  }, longest);
}
