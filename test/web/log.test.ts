/** The Log on the screen is the Log on the disk: every Event of it, new ones as they come, and where somebody has changed it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import type { Page } from 'playwright-core';
import { environmentFor, runPixir, startServer } from '../support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { CUT, visit } from './support/browser.ts';
import { sessionIdOf } from './support/screen.ts';
import { kill, samePort } from './support/servers.ts';
import { prompt, startSession } from './support/session.ts';
import { answers, idle } from './support/steps.ts';

test('[UI57] the timeline shows every Event of the Log, goes on with it, and says where it was changed', async (t) => {
  await using dir = await tempDir();
  await using first = await startServer(dir.path);
  await using one = await visit(t, first);
  await using other = await visit(t, first);
  const [page, log] = [one.page, other.page];
  for (const { expect } of [one, other]) expect(CUT);
  await startSession(page);
  const sessionId = sessionIdOf(page);
  await say(page, 'echo one');

  await log.goto(`${first.url}/#/s/${sessionId}/log`);
  const before = await recorded(dir.path, sessionId);
  await log.getByRole('status').getByText(`${before.length} Events, chain intact`).waitFor();
  assert.deepEqual(await shown(log), before);
  await say(page, 'echo two');
  const after = await recorded(dir.path, sessionId);
  assert.ok(after.length > before.length);
  await log.getByRole('button', { name: `Event ${after.length - 1}`, exact: true }).waitFor();
  assert.deepEqual(await shown(log), after);
  await log
    .getByRole('status')
    .getByText(`; ${after.length - before.length} more since`)
    .waitFor();
  await log.getByRole('button', { name: 'Verify the chain' }).click();
  await log.getByRole('status').getByText(`${after.length} Events, chain intact`).waitFor();

  await kill(first);
  const changed = after.findIndex((line) => line.includes('assistant_message'));
  changeOnDisk(dir.path, sessionId, changed);
  await using _second = await startServer(dir.path, {}, samePort(first));
  await log.getByRole('status').getByText(`The chain breaks at Event ${changed}:`).waitFor();
  const { stdout } = await runPixir(['sessions', 'verify', sessionId], environmentFor(dir.path));
  assert.match(stdout, new RegExp(`\\b${changed}\\b`));
});

async function say(page: Page, text: string): Promise<void> {
  const count = await answers(page).count();
  await prompt(page, text);
  await answers(page).nth(count).waitFor();
  await idle(page);
}

/** Seq and type of what the shell exports, oldest first. */
async function recorded(dataDir: string, sessionId: string): Promise<string[]> {
  const { stdout } = await runPixir(['sessions', 'export', sessionId], environmentFor(dataDir));
  const lines = stdout.trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as { seq: number; type: string })
    .map(({ seq, type }) => `${seq} ${type}`);
}

async function shown(page: Page): Promise<string[]> {
  const rows = page
    .getByRole('table', { name: 'Events' })
    .getByRole('row')
    .filter({ has: page.getByRole('button') });
  const lines = await rows.evaluateAll((all) =>
    all.map((row) => {
      const [seq, , type] = [...row.children].map(({ textContent }) => textContent);
      return `${seq} ${type}`;
    }),
  );
  return lines.reverse();
}

/** As a program could that writes past the server: one letter of what was said. */
function changeOnDisk(dataDir: string, sessionId: string, seq: number): void {
  const database = new Database(join(dataDir, 'pixir.db'));
  const { changes } = database
    .prepare(`UPDATE events SET json = replace(json, '"text":"one"', '"text":"One"') WHERE session_id = ? AND seq = ?`)
    .run(sessionId, seq);
  assert.equal(changes, 1);
  database.close();
}
