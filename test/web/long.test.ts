/** A Session of 10,000 Events in a real browser: how soon its end is there, whether scrolling shows gaps, and what it takes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { environmentFor, runPixir, startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { visit } from './support/browser.ts';
import { LONG, recordLongSession } from './support/long-session.ts';
import { inThreeRuns } from './support/three-runs.ts';

test('[UI10] the end of 10,000 Events is there at once, all of it scrolls without a gap, in bounded memory', async (t) => {
  await using dir = await tempDir();
  await recordLongSession(dir.path);
  const { stdout } = await runPixir(['sessions', 'verify'], environmentFor(dir.path));
  assert.match(stdout, /10000 events\tok/);
  await using server = await startServer(dir.path);
  const { page } = await visit(t, server, { viewport: { width: 1280, height: 1800 } });

  const list = page.getByRole('navigation', { name: 'Sessions' });
  const firstPaintMs = await inThreeRuns(
    async () => {
      await page.goto(server.url);
      await list.getByRole('link', { name: LONG.title }).waitFor();
      const drawn = firstPaint(page, `message:${LONG.lastMessageId}`);
      await list.getByRole('link', { name: LONG.title }).click();
      return drawn;
    },
    (ms) => ms < 1_000,
  );
  t.diagnostic(`the tail is painted ${firstPaintMs.toFixed()} ms after the click`);
  assert.ok(firstPaintMs < 1_000);

  // A real wheel: only a person's hand takes the list away from its end.
  const conversation = page.getByRole('region', { name: 'Conversation' });
  await conversation.hover();
  await atRest(page);
  const wheel = watchMiddle(page);
  for (let notch = 0; notch < 40; notch += 1) await page.mouse.wheel(0, -240);
  const { frames, blank } = await wheel.stop();
  t.diagnostic(`by wheel: ${frames} frames, ${blank} blank`);
  assert.equal(blank, 0);

  for (const direction of [-1, 1] as const) {
    await atRest(page);
    const { steps, frames, worst, late, ms } = await scrollThrough(page, direction);
    const rate = (frames / ms) * 1_000;
    t.diagnostic(`${steps} screens, ${frames} frames, ${rate.toFixed()} a second; full after ${worst} at most`);
    assert.ok(steps > 100, 'through everything');
    // A frame more is what a machine costs that is busy with something else.
    assert.ok(late <= steps / 20, `${late} late`);
  }
  await conversation.getByText('Rule 99 is done').waitFor();

  const { heapMb, elements } = await footprint(page);
  t.diagnostic(`${heapMb.toFixed()} MB of heap, ${elements} elements`);
  assert.ok(heapMb < 150);
  assert.ok(elements < 4_000);
});

/** Milliseconds from the next click to the frame in which this row is in sight. */
function firstPaint(page: Page, row: string): Promise<number> {
  return page.evaluate(async (key) => {
    const { timeStamp } = await new Promise<Event>((resolve) =>
      addEventListener('click', resolve, { once: true, capture: true }),
    );
    for (;;) {
      await new Promise(requestAnimationFrame);
      const element = document.querySelector(`[data-row="${key}"]`);
      if (!element?.checkVisibility({ visibilityProperty: true })) continue;
      const { top, bottom } = element.getBoundingClientRect();
      if (bottom > 0 && top < innerHeight) break;
    }
    // A task of its own comes after what the frame has painted.
    await new Promise((resolve) => setTimeout(resolve));
    return performance.now() - timeStamp;
  }, row);
}

/** Looks at every frame: does a row stand in the middle of the list? */
function watchMiddle(page: Page): { stop(): Promise<{ frames: number; blank: number }> } {
  const watching = page.evaluate(async () => {
    const list = document.querySelector('.conversation-scroll');
    if (!list) throw new Error('there is no list');
    const { top, height } = list.getBoundingClientRect();
    const middle = top + height / 2;
    const found = { frames: 0, blank: 0 };
    let isStopped = false;
    addEventListener('pixir-test-stop', () => (isStopped = true), { once: true });
    while (!isStopped) {
      await new Promise(requestAnimationFrame);
      const boxes = [...list.querySelectorAll('[data-row]')].map((row) => row.getBoundingClientRect());
      found.frames += 1;
      if (!boxes.some((box) => box.top <= middle && box.bottom >= middle)) found.blank += 1;
    }
    return found;
  });
  return {
    async stop() {
      await page.evaluate(() => dispatchEvent(new Event('pixir-test-stop')));
      return watching;
    },
  };
}

/** Nothing has scrolled for a quarter of a second. */
function atRest(page: Page): Promise<void> {
  return page.evaluate(async () => {
    let moved = performance.now();
    const touch = () => {
      moved = performance.now();
    };
    addEventListener('scroll', touch, { capture: true });
    while (performance.now() - moved < 250) await new Promise(requestAnimationFrame);
    removeEventListener('scroll', touch, { capture: true });
  });
}

interface Scrolled {
  /** Of a screen each, in one frame. */
  steps: number;
  frames: number;
  /** The most frames that were painted after a step before rows covered all of the screen. */
  worst: number;
  /** Steps after which there were more than two. */
  late: number;
  ms: number;
}

/** Screen by screen to the very end of one direction; where older items are read, it waits for them there. */
function scrollThrough(page: Page, direction: -1 | 1): Promise<Scrolled> {
  return page.evaluate(async (way) => {
    const list = document.querySelector('.conversation-scroll');
    if (!list) throw new Error('there is no list');
    const { top, bottom, height } = list.getBoundingClientRect();
    const found = { steps: 0, frames: 0, worst: 0, late: 0, ms: 0 };
    const began = performance.now();

    /** Above the first row and below the last one stands a line. */
    function isFull(): boolean {
      let reached = top + 60;
      for (const row of list?.querySelectorAll('[data-row]') ?? []) {
        const box = row.getBoundingClientRect();
        if (box.top <= reached + 1 && box.bottom > reached) reached = box.bottom;
      }
      return reached > bottom - 60;
    }
    for (;;) {
      const before = list.scrollTop;
      list.scrollTop += way * height;
      if (list.scrollTop === before && !list.firstElementChild?.textContent?.startsWith('Reading')) break;
      if (list.scrollTop !== before) found.steps += 1;
      let frames = 0;
      do {
        await new Promise(requestAnimationFrame);
        frames += 1;
      } while (!isFull());
      found.frames += frames;
      found.worst = Math.max(found.worst, frames);
      if (frames > 2) found.late += 1;
    }
    found.ms = performance.now() - began;
    return found;
  }, direction);
}

async function footprint(page: Page): Promise<{ heapMb: number; elements: number }> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  await devtools.send('Performance.enable');
  const { metrics } = await devtools.send('Performance.getMetrics');
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN;
  return { heapMb: heap / 1024 ** 2, elements: await page.evaluate(() => document.querySelectorAll('*').length) };
}
