/** What a person has written and the server does not have yet: drafts, and prompts that wait. Each is sent once, or is still there. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startFakeOpenAi } from '../support/fake-openai.ts';
import { gate, message } from '../support/fake-openai-steps.ts';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { CUT, visit } from './support/browser.ts';
import { lineOf, sessionIdOf } from './support/screen.ts';
import { kill, samePort, startWithModel } from './support/servers.ts';
import { prompt, promptField, startSession } from './support/session.ts';
import { answers, idle, logOf, prompts, promptsIn, queueOf, startAnotherSession } from './support/steps.ts';

// Each has a server and a window of its own, and mostly waits.
suite('what waits in the browser', { concurrency: 2 }, () => {
  test('[UI35] queued prompts go out in order, each once, over a reload and from two windows; a removed one does not', async (t) => {
    await using dir = await tempDir();
    await using fake = await startFakeOpenAi();
    await using server = await startWithModel(dir.path, fake);
    await using visitor = await visit(t, server);
    const { page, context } = visitor;
    await startSession(page);
    const first = gate();
    fake.answer(message(first.passed, 'The first answer.'));
    fake.answer(message('The second answer.'));
    fake.answer(message('The fourth answer.'));
    for (const text of ['first', 'second', 'third', 'fourth']) await prompt(page, text);
    const queued = queueOf(page).getByRole('listitem');
    await queued.filter({ hasText: 'third' }).getByRole('button', { name: 'Remove from the queue' }).click();
    await queueOf(page).getByText('Queued: sends when this Turn ends').waitFor();

    await page.reload();
    const other = await context.newPage();
    await other.goto(page.url());
    for (const window of [page, other]) {
      await queueOf(window).getByText('fourth').waitFor();
      assert.deepEqual(await queueOf(window).getByRole('listitem').allInnerTexts(), ['second', 'fourth']);
    }

    first.open();
    for (const window of [page, other]) {
      await answers(window).getByText('The fourth answer.').waitFor();
      await idle(window);
      await queueOf(window).waitFor({ state: 'hidden' });
      assert.deepEqual(await prompts(window).allInnerTexts(), ['first', 'second', 'fourth']);
      assert.deepEqual(await answers(window).allInnerTexts(), [
        'The first answer.',
        'The second answer.',
        'The fourth answer.',
      ]);
    }
    assert.deepEqual(promptsIn(await logOf(dir.path, sessionIdOf(page))), ['first', 'second', 'fourth']);
    assert.equal(fake.requests.length, 3);
  });

  test('[UI36] [UI31] without a connection a prompt waits in sight, can be taken back, and goes out once', async (t) => {
    await using dir = await tempDir();
    await using first = await startServer(dir.path);
    await using visitor = await visit(t, first);
    const { page, expect } = visitor;
    expect(CUT);
    await startSession(page);
    await kill(first);
    await page.getByRole('region', { name: 'Connection' }).getByText('Reconnecting').waitFor();
    await prompt(page, 'echo Said without a connection.');
    await prompt(page, 'echo Said too early.');
    await queueOf(page).getByText('Queued: sends when the connection is back').waitFor();
    assert.deepEqual(await queueOf(page).getByRole('listitem').allInnerTexts(), [
      'echo Said without a connection.',
      'echo Said too early.',
    ]);
    await queueOf(page)
      .getByRole('listitem')
      .filter({ hasText: 'early' })
      .getByRole('button', { name: 'Edit', exact: true })
      .click();
    assert.equal(await promptField(page).inputValue(), 'echo Said too early.');

    await using _second = await startServer(dir.path, {}, samePort(first));
    await answers(page).getByText('Said without a connection.').waitFor();
    await idle(page);
    await queueOf(page).waitFor({ state: 'hidden' });
    assert.equal(await promptField(page).inputValue(), 'echo Said too early.');
    assert.deepEqual(promptsIn(await logOf(dir.path, sessionIdOf(page))), ['echo Said without a connection.']);
  });

  test('[UI36] a prompt that was not taken is said to be, and is sent again when the person says so', async (t) => {
    await using dir = await tempDir();
    const limits = { PIXIR_MAX_RUNNING_TURNS_PER_OWNER: '1', PIXIR_MAX_FRAME_BYTES: '100000' };
    await using server = await startServer(dir.path, limits);
    await using visitor = await visit(t, server);
    const { page, context } = visitor;
    await startSession(page);
    await prompt(page, 'hang');
    await answers(page).getByText('Waiting until you stop me').waitFor();
    const running = page.url();

    await startAnotherSession(page);
    const failed = page.getByRole('region', { name: 'Not sent' });
    await prompt(page, 'x'.repeat(100_000));
    await failed.getByRole('alert').getByText('Not sent: The prompt is too large for the server.').waitFor();
    await failed.getByRole('button', { name: 'Dismiss' }).click();

    await prompt(page, 'echo Taken at last.');
    await failed
      .getByRole('alert')
      .getByText(/^Not sent: .*running/i)
      .waitFor();
    await failed.getByText('echo Taken at last.').waitFor();
    const other = await context.newPage();
    await other.goto(running);
    await other.getByRole('button', { name: 'Stop', exact: true }).click();
    await idle(other);
    await failed.getByRole('button', { name: 'Retry' }).click();
    await answers(page).getByText('Taken at last.').waitFor();
    await failed.waitFor({ state: 'hidden' });
    assert.deepEqual(promptsIn(await logOf(dir.path, sessionIdOf(page))), ['echo Taken at last.']);

    await other.goto(page.url());
    await other.getByRole('button', { name: 'Session menu' }).click();
    await other.getByRole('menuitem', { name: 'Delete…' }).click();
    await other.getByRole('button', { name: 'Delete Session' }).click();
    await page.getByRole('heading', { name: 'There is no such Session' }).waitFor();
  });

  test('[UI38] a draft is there again after another Session and after a reload', async (t) => {
    await using dir = await tempDir();
    await using server = await startServer(dir.path);
    await using visitor = await visit(t, server);
    const { page } = visitor;
    await startSession(page);
    await prompt(page, 'echo One');
    await lineOf(page, finished('One')).waitFor();
    await promptField(page).fill('The draft of One');
    await startAnotherSession(page);
    assert.equal(await promptField(page).inputValue(), '');
    await prompt(page, 'echo Two');
    await lineOf(page, finished('Two')).waitFor();
    await promptField(page).fill('The draft of Two');

    for (const again of ['gone back', 'loaded anew'] as const) {
      if (again === 'loaded anew') await page.reload();
      for (const which of ['One', 'Two']) {
        await lineOf(page, finished(which)).click();
        await answers(page).getByText(which, { exact: true }).waitFor();
        assert.equal(await promptField(page).inputValue(), `The draft of ${which}`);
      }
    }
  });
});

/** How the list calls the Session of this echo when its Turn has ended, whether that was seen or not. */
function finished(echo: string): RegExp {
  return new RegExp(`^(Unread: )?echo ${echo}$`);
}
