/** What is cut in the middle: by the person, by a reload, by the death of the server. Nothing is lost, nothing comes twice. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { startFakeOpenAi } from '../support/fake-openai.ts';
import { call, gate, message } from '../support/fake-openai-steps.ts';
import { startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { CUT, visit } from './support/browser.ts';
import { lineOf, listOf, sessionIdOf, until } from './support/screen.ts';
import { kill, samePort, startWithModel } from './support/servers.ts';
import { prompt, promptField, startSession } from './support/session.ts';
import { answers, approval, draftOf, idle, logOf, ofType, prompts, startAnotherSession } from './support/steps.ts';

// Each has a server and a window of its own, and mostly waits.
suite('what is cut', { concurrency: 2 }, () => {
  test('[UI31] Stop is seen to stop: nothing of the command is left, and the next prompt runs', async (t) => {
    await using dir = await tempDir();
    await using server = await startServer(dir.path);
    await using visitor = await visit(t, server);
    const { page } = visitor;
    await startSession(page);
    // It does not end when it is asked to, so stopping it takes a while.
    await prompt(page, `bash trap '' TERM; echo "as process $$"; sleep 60`);
    await approval(page, 'Run this command?').getByRole('button', { name: 'Allow once' }).click();
    const output = page.getByRole('group', { name: 'Output so far' }).getByText(/as process \d+/);
    const pid = Number((await output.innerText()).match(/\d+/)?.[0]);
    process.kill(pid, 0);

    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('button', { name: 'Stopping…' }).waitFor();
    await idle(page);
    await page.getByRole('button', { name: /^bash .* stopped/ }).waitFor();
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
    const [turn] = ofType(await logOf(dir.path, sessionIdOf(page)), 'turn_finished');
    assert.equal(turn?.data.outcome, 'cancelled');

    await prompt(page, 'echo Here again.');
    await answers(page).getByText('Here again.').waitFor();
  });

  test('[UI33] a reload in mid-stream shows the text so far, then the rest, once', async (t) => {
    await using dir = await tempDir();
    await using fake = await startFakeOpenAi();
    await using server = await startWithModel(dir.path, fake);
    await using visitor = await visit(t, server);
    const { page } = visitor;
    await startSession(page);
    const rest = gate();
    fake.answer(message('It begins ', 'in the middle of a wo', rest.passed, 'rd, and ', 'it ends.'));
    await prompt(page, 'Tell me.');
    await answers(page).getByText('It begins in the middle of a wo', { exact: true }).waitFor();

    await page.reload();
    await answers(page).getByText('It begins in the middle of a wo', { exact: true }).waitFor();
    rest.open();
    await answers(page).getByText('It begins in the middle of a word, and it ends.', { exact: true }).waitFor();
    await idle(page);
    assert.deepEqual(await answers(page).allInnerTexts(), ['It begins in the middle of a word, and it ends.']);
    assert.deepEqual(await prompts(page).allInnerTexts(), ['Tell me.']);
    const log = await logOf(dir.path, sessionIdOf(page));
    assert.equal(ofType(log, 'turn_started').length, 1);
    assert.equal(fake.requests.length, 1);
  });

  test('[UI34] a server that dies in mid-stream and comes back: the page goes on by itself, with all that waited', async (t) => {
    await using dir = await tempDir();
    await using fake = await startFakeOpenAi();
    await using first = await startWithModel(dir.path, fake);
    await using visitor = await visit(t, first);
    const { page, expect } = visitor;
    expect(CUT);

    await startSession(page);
    fake.answer(call('call_1', 'bash', { command: 'echo once >> done.txt' }));
    await prompt(page, 'Do it once.');
    await approval(page, 'Run this command?').waitFor();
    const asking = page.url();

    await startAnotherSession(page);
    const sessionId = sessionIdOf(page);
    fake.answer(message('The first half, ', new Promise(() => {})));
    await prompt(page, 'Tell me.');
    await answers(page).getByText('The first half,').waitFor();
    await until(async () => (await draftOf(dir.path, sessionId)) === 'The first half, ');

    await kill(first);
    await page.getByRole('region', { name: 'Connection' }).getByText('Reconnecting').waitFor();
    await promptField(page).fill('Typed meanwhile');
    fake.answer(message('and the second half.'));
    await using _second = await startWithModel(dir.path, fake, samePort(first));

    await answers(page).getByText('and the second half.').waitFor();
    await page.getByRole('region', { name: 'Connection' }).waitFor({ state: 'hidden' });
    await idle(page);
    const log = await logOf(dir.path, sessionId);
    const said = ofType(log, 'assistant_message').map(({ data }) => data.text);
    assert.deepEqual(said, ['The first half, ', 'and the second half.']);
    assert.deepEqual(
      await answers(page).allInnerTexts(),
      said.map((text) => text.trim()),
    );
    assert.deepEqual(await prompts(page).allInnerTexts(), ['Tell me.']);
    assert.equal(ofType(log, 'turn_started').length, 1);
    assert.equal(await promptField(page).inputValue(), 'Typed meanwhile');

    fake.answer(message('Done once.'));
    await lineOf(page, /^Needs you: /).click();
    assert.equal(page.url(), asking);
    await approval(page, 'Run this command?').getByRole('button', { name: 'Allow once' }).click();
    await answers(page).getByText('Done once.').waitFor();
    assert.equal(await readFile(join(dir.path, 'work', 'done.txt'), 'utf8'), 'once\n');
    await listOf(page).getByRole('link', { name: 'Tell me.' }).click();
    await answers(page).getByText('and the second half.').waitFor();
    assert.equal(await promptField(page).inputValue(), 'Typed meanwhile');
  });
});
