import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import type { ScriptStep } from '../../src/providers/script.ts';
import { serveStreamable } from '../support/mcp-http.ts';
import { alive } from '../tools/mcp-support.ts';
import { done, echo, results, stage } from './mcp-support.ts';

/** Waits until the process has gone: its end is nothing that a client hears of. */
async function gone(pid: number | undefined): Promise<void> {
  while (pid !== undefined && alive(pid)) await new Promise(setImmediate);
}

test('[MCP4] a thousand reconnects with the same list restart nothing and leave nothing behind', async () => {
  await using s = await stage();
  const first = await s.w.client();
  const mcpServers = [s.server()];
  const { sessionId } = await s.make(first, mcpServers);
  const files = () => readdirSync('/proc/self/fd').length;
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = { files: files(), timers: timers() };
  for (let n = 0; n < 1_000; n++) {
    const client = await s.w.client();
    const method = n % 2 === 0 ? 'session/load' : 'session/resume';
    const { _meta } = await client.request(method, { sessionId, cwd: s.w.dir, mcpServers });
    assert.deepEqual(_meta, { pixir: { mcp: [{ name: 'a', ok: true }] } });
    if (n % 100 === 0) await client.request('_pixir/session/attach', { sessionId });
    client.close();
  }
  assert.equal(s.pids().length, 1);
  assert.ok(s.pids().every(alive));
  assert.ok(files() <= before.files + 2, `${before.files} files, then ${files()}`);
  assert.ok(timers() <= before.timers + 2, `${before.timers} timers, then ${timers()}`);
});

test('[MCP4] another list replaces the servers for everybody, once the Turn that uses them has ended', async () => {
  const waits: ScriptStep[] = [{ type: 'wait', gate: 'go' }, ...echo('old')];
  await using s = await stage({ script: [waits, done, echo('new'), done] });
  const client = await s.w.client();
  const { sessionId } = await s.make(client);
  const turn = client.prompt(sessionId, 'go');
  await client.frame(({ method, params }) => method === 'session/update' && params?.sessionId === sessionId);
  while (s.w.provider.requests.length === 0) await new Promise(setImmediate);
  const other = await s.w.client();
  const mcpServers = [s.server('a', { OTHER: 'x' })];
  await other.request('session/load', { sessionId, cwd: s.w.dir, mcpServers });
  const [old, young] = s.pids();
  assert.ok(old && young && alive(old));
  s.w.provider.open('go');
  await turn;
  await gone(old);
  await client.prompt(sessionId, 'again');
  assert.deepEqual(
    (await results(s.w, sessionId)).map(({ output }) => output),
    ['old', 'new'],
  );
  assert.deepEqual(s.pids(), [old, young]);
  // To resume without a list says nothing of servers; an empty list says that there are none.
  await other.request('session/resume', { sessionId, cwd: s.w.dir });
  assert.ok(alive(young));
  await other.request('session/resume', { sessionId, cwd: s.w.dir, mcpServers: [] });
  await gone(young);
});

test('[MCP5] servers outlive a page that is loaded again, and end with the Session', async () => {
  await using s = await stage();
  const mcpServers = [s.server()];
  const leave = await s.w.client();
  const { sessionId } = await s.make(leave, mcpServers);
  leave.close();
  await new Promise(setImmediate);
  s.w.clock.advance(59_000);
  const back = await s.w.client();
  await back.request('session/load', { sessionId, cwd: s.w.dir, mcpServers });
  s.w.clock.advance(120_000);
  const [pid] = s.pids();
  assert.ok(pid && alive(pid));
  assert.equal(s.pids().length, 1);
  back.close();
  await new Promise(setImmediate);
  s.w.clock.advance(60_000);
  await gone(pid);

  for (const method of ['session/close', 'session/delete']) {
    const client = await s.w.client();
    const made = await s.make(client, mcpServers);
    await client.request(method, { sessionId: made.sessionId });
    await gone(s.pids().at(-1));
  }
  await s.make(await s.w.client(), mcpServers);
  const last = s.pids().at(-1);
  assert.ok(last && alive(last));
  await s.w.runtime.toolboxes.close();
  assert.equal(alive(last), false);
});

test('[MCP6] what could not be connected is tried again with the same list, and the rest is kept', async () => {
  await using s = await stage({ script: [echo('on'), done] });
  await using remote = await serveStreamable('right');
  const headers = [{ name: 'authorization', value: 'Bearer wrong' }];
  const mcpServers = [s.server(), { type: 'http', name: 'h', url: remote.url, headers }];
  const client = await s.w.client();
  const { sessionId } = await s.make(client, mcpServers);
  const tried = remote.requests.length;
  await client.prompt(sessionId, 'go');
  assert.equal(remote.requests.length, tried);
  await client.request('session/load', { sessionId, cwd: s.w.dir, mcpServers });
  assert.ok(remote.requests.length > tried);
  assert.equal(s.pids().length, 1);
});

test('[MCP1] the servers of a stored Session come with the next load after a restart', async () => {
  await using s = await stage({ script: [echo('before'), done] });
  const client = await s.w.client();
  const { sessionId } = await s.make(client);
  await client.prompt(sessionId, 'go');
  await using w = await s.w.restart({ script: [echo('without'), done, echo('after'), done] });
  const again = await w.client();
  await again.request('session/load', { sessionId, cwd: w.dir, mcpServers: [] });
  await again.prompt(sessionId, 'go');
  await again.request('session/load', { sessionId, cwd: w.dir, mcpServers: [s.server()] });
  await again.prompt(sessionId, 'go');
  assert.deepEqual(
    (await results(w, sessionId)).map(({ ok }) => ok),
    [true, false, true],
  );
});
