/** What the page makes of what a model says: nothing of it runs, nothing loads, all of it can be found and taken along. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startFakeOpenAi } from '../support/fake-openai.ts';
import { message, thought } from '../support/fake-openai-steps.ts';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { visit } from './support/browser.ts';
import { LONG, recordLongSession } from './support/long-session.ts';
import { conversationOf, lineOf } from './support/screen.ts';
import { startWithModel } from './support/servers.ts';
import { prompt, startSession } from './support/session.ts';
import { answers, idle } from './support/steps.ts';

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const HOSTILE = `
[page](https://good.example/a?b=1) [mail](mailto:somebody@good.example) <https://auto.example/>
[script](javascript:document.title='hacked') [mixed](JaVa\tScRiPt:document.title='hacked') [data](data:text/html,hacked)
[file](file:///etc/passwd) [here](/api/logout) [reference]

[reference]: vbscript:hacked

![far](https://far.example/spy.png) ![near](${PIXEL}) ![script](javascript:document.title='hacked')

<script>document.title = 'hacked'</script>
<img src="/nothing.png" onerror="document.title = 'hacked'"> <iframe srcdoc="<script>top.document.title='hacked'</script>"></iframe>
<a href="javascript:document.title='hacked'">raw</a> <svg onload="document.title='hacked'"></svg>
<style>body { display: none }</style>

| <img src=x onerror=document.title='hacked'> | b |
|---|---|
| \`<b>code</b>\` | &lt;i&gt; |
`;
const CODE = 'const answer: number = 42; // "why"\nexport { answer };';

test('[UI56] hostile text is text: no script, no element, no request, links only to where they may lead; code is copied as it is', async (t) => {
  await using dir = await tempDir();
  await using model = await startFakeOpenAi();
  await using server = await startWithModel(dir.path, model);
  await using visitor = await visit(t, server, { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = visitor;
  await startSession(page);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  model.answer(thought(HOSTILE), message(HOSTILE, '\nThe end.'));
  await prompt(page, HOSTILE);
  await answers(page).getByText('The end.').waitFor();
  await idle(page);

  const answer = answers(page).last();
  await answer.getByRole('link').nth(3).waitFor();
  const links = await answer.getByRole('link').evaluateAll((all) =>
    all.map((link) => ({
      href: link.getAttribute('href') ?? '',
      rel: link.getAttribute('rel'),
      to: link.getAttribute('target'),
    })),
  );
  assert.deepEqual(
    links.map(({ href }) => href),
    [
      'https://good.example/a?b=1',
      'mailto:somebody@good.example',
      'https://auto.example/',
      'https://far.example/spy.png',
    ],
  );
  for (const { rel, to } of links) assert.deepEqual([rel, to], ['noopener noreferrer', '_blank']);
  for (const text of ['script', 'mixed', 'data', 'file', 'here', '<script>', 'onerror=', '<iframe', '<svg', '<style>'])
    await answer.getByText(text).first().waitFor();
  await conversationOf(page).getByText('Thought', { exact: true }).click();
  await conversationOf(page).getByRole('group').getByRole('link').nth(3).waitFor();
  const made = 'script, img, iframe, svg:not(.lucide), style, object, embed, form, [onerror], [onload]';
  assert.equal(await conversationOf(page).locator(made).count(), 0);
  assert.ok(!(await page.title()).includes('hacked'));
  assert.deepEqual(
    requests.filter((url) => !url.startsWith(`${server.url}/assets/`)),
    [],
  );

  const picture = answer.getByRole('button', { name: 'near show' });
  await picture.click();
  assert.equal(await answer.getByRole('img', { name: 'near' }).getAttribute('src'), PIXEL);

  model.answer(message(`So:\n\n\`\`\`ts\n${CODE}\n\`\`\`\n`));
  await prompt(page, 'How?');
  const block = answers(page).getByRole('figure', { name: 'Code: ts' });
  await block.locator('pre span span').nth(4).waitFor();
  const colours = await block
    .locator('pre span span')
    .evaluateAll((all) => new Set(all.map((span) => getComputedStyle(span).color)).size);
  assert.ok(colours > 2);
  await block.getByRole('button', { name: 'Copy code' }).click();
  await block.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal(await clipboard(page), CODE);
});

test('[UI56] what was not read yet is found, copied and exported like the rest', async (t) => {
  await using dir = await tempDir();
  await recordLongSession(dir.path);
  await using server = await startServer(dir.path);
  await using visitor = await visit(t, server, {
    path: `/#/s/${LONG.sessionId}`,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const { page } = visitor;
  await conversationOf(page).getByText('Rule 99 is done').waitFor();
  await page.getByRole('button', { name: 'Find in conversation' }).click();
  const find = page.getByRole('search').filter({ has: page.getByRole('textbox', { name: 'Find in conversation' }) });
  await find.getByRole('textbox').fill('of the GRAMMAR refuses');
  await find.getByText('100 of 100', { exact: true }).waitFor();
  await find.getByRole('button', { name: 'Previous match' }).click();
  await find.getByText('99 of 100', { exact: true }).waitFor();
  for (let step = 0; step < 2; step += 1) await find.getByRole('textbox').press('Enter');
  await find.getByText('1 of 100', { exact: true }).waitFor();
  const first = conversationOf(page).getByText('Rule 0 of the grammar refuses');
  await first.waitFor();
  await page.waitForFunction(
    (element) => {
      const { top, bottom } = element?.getBoundingClientRect() ?? { top: -1, bottom: -1 };
      return top > 0 && bottom < innerHeight;
    },
    await first.elementHandle(),
  );
  await page.keyboard.press('Escape');

  const menu = async (name: string) => {
    await page.getByRole('button', { name: 'Session menu' }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  await page.reload();
  await lineOf(page, LONG.title).waitFor();
  await conversationOf(page).getByText('Rule 99 is done').waitFor();
  await menu('Copy as Markdown');
  await page.getByText('Conversation copied as Markdown').waitFor();
  const markdown = await clipboard(page);
  assert.equal(markdown.match(/of the grammar refuses/g)?.length, 100);
  assert.equal(markdown.match(/is done: `npm test` passes/g)?.length, 100);
  assert.ok(markdown.startsWith(`# ${LONG.title}\n`));

  const [exported] = await Promise.all([page.waitForEvent('download'), menu('Export Markdown')]);
  assert.equal(exported.suggestedFilename(), 'Weeks-of-work.md');
  assert.equal(await readFile(await exported.path(), 'utf8'), markdown);
  const [download] = await Promise.all([page.waitForEvent('download'), menu('Export JSON')]);
  const { items } = JSON.parse(await readFile(await download.path(), 'utf8')) as { items: { type: string }[] };
  const counted = Object.groupBy(items, ({ type }) => type);
  assert.deepEqual(
    Object.entries(counted).map(([type, all]) => `${all?.length} ${type}`),
    ['100 user', '200 thought', '300 message', '2600 tool'],
  );
});

function clipboard(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText());
}
